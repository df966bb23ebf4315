internal import TreeScan

extension PlannedName {
    private func isFolder(_ side: Side) -> Bool { sides[side]?.kind == .directory }

    /// Whether a side would lose a folder of this name.
    var mayRemoveFolder: Bool {
        switch decision.outcome {
        case .delete(let side): isFolder(side)
        case .copy(let side, _, _): isFolder(side) && !isFolder(side.other)
        default: false
        }
    }

    /// Whether both sides have the name at the end.
    var staysOrComes: Bool {
        switch decision.outcome {
        case .keep, .record, .copy, .describe, .link, .keepBoth, .rename: true
        case .forget, .delete, .renamedAway, .skip: false
        }
    }

    /// Whether the name is new on a side.
    func comes(to side: Side) -> Bool {
        guard sides[side] == nil else { return false }
        return switch decision.outcome {
        case .copy(side, _, _), .rename(side, _): true
        default: false
        }
    }

    /// Whether a side loses the name.
    func leaves(_ side: Side) -> Bool {
        switch decision.outcome {
        case .delete(side): true
        case .renamedAway: sides[side] != nil
        default: false
        }
    }

    /// Changes a decision that would have removed the folder: entries below it stay or come.
    mutating func keepFolder() {
        switch decision.outcome {
        case .delete(let side):
            let metadata = sides[side]?.metadata ?? Metadata(mode: 0o700)
            decision.outcome = .copy(to: side.other, metadata: metadata, source: nil)
            decision.reason = "removed on \(side.other.rawValue), but entries below it stay"
        case .copy(let side, _, _):
            decision.outcome = .keepBoth(moving: side.other)
            decision.isConflict = true
            decision.reason = "no folder on \(side.other.rawValue), but entries below it stay"
        default: break
        }
    }
}

/// The steps of a plan, each in its place.
struct ActionSteps {
    private var aside: [SyncAction] = []
    private var earlyDeletions: [SyncAction] = []
    private var attributes: [SyncAction] = []
    private var folders: [SyncAction] = []
    private var renames: [SyncAction] = []
    private var files: [SyncAction] = []
    private var deletions: [SyncAction] = []
    private var lateFiles: [SyncAction] = []
    private var links: [SyncAction] = []
    private var descriptions: [SyncAction] = []

    /// Names before folders, folders before their entries, entries before the removal of their folders, further names of
    /// files behind the files, and metadata of folders last, as a folder may lose the right to write in it.
    var inOrder: [SyncAction] {
        aside + earlyDeletions + folders + renames + attributes + files + deletions.reversed() + lateFiles + links
            + descriptions.reversed()
    }

    /// Adds the steps of a name. Names come in the order of bytes.
    mutating func add(_ name: PlannedName) {
        let path = name.path
        switch name.decision.outcome {
        case .forget, .renamedAway, .skip: break
        case .keep, .record, .link: relink(name)
        case .copy(let side, let metadata, let source):
            copy(name, to: side, metadata)
            relink(name, on: side.other)
            if let source, name.links[side.other] == nil { describe(name, on: side.other, source) }
            if !name.attributeChanges[side.other].isEmpty, let old = name.sides[side.other] {
                var action = SyncAction(work: .setAttributes, side: side.other, path: path, metadata: old.metadata)
                action.attributes = name.attributeChanges[side.other]
                (action.source, action.old) = (name.sides[side], old)
                attributes.append(action)
            }
        case .describe(let forA, let forB):
            relink(name)
            for (side, metadata) in [(Side.a, forA), (.b, forB)] {
                let isOther = metadata != nil || !name.attributeChanges[side].isEmpty
                // One that gets another file has the metadata of that.
                if isOther, name.links[side] == nil, let metadata = metadata ?? name.sides[side]?.metadata {
                    describe(name, on: side, metadata)
                }
            }
        case .delete(let side):
            deletions.append(SyncAction(work: .delete, side: side, path: path, old: name.sides[side]))
        case .keepBoth(let side):
            guard let other = name.otherName, var moved = name.sides[side], let stays = name.sides[side.other] else {
                return
            }
            aside.append(SyncAction(work: .moveAside(to: other), side: side, path: path, old: moved))
            create(stays, on: side, stays.metadata, name.links[side])
            relink(name, on: side.other)
            moved.path = other
            create(moved, on: side.other, moved.metadata, name.otherLinks[side.other])
            if let step = name.otherLinks[side] { relink(other, step, on: side, source: moved, old: moved) }
        case .rename(let side, _):
            guard let from = name.otherName, let source = name.sides[side.other] else { return }
            renames.append(
                SyncAction(
                    work: .rename(to: path), side: side, path: from, metadata: source.metadata, source: source,
                    old: name.renamed))
            relink(name, on: side.other)
            if let step = name.links[side], let renamed = name.renamed {
                relink(path, step, on: side, source: source, old: renamed.named(path, source.metadata))
            }
        }
    }

    /// Adds the steps that make the name one of a file, or a file of its own, where its content stays.
    private mutating func relink(_ name: PlannedName) {
        for side in Side.allCases { relink(name, on: side) }
    }

    private mutating func relink(_ name: PlannedName, on side: Side) {
        guard let step = name.links[side], let old = name.sides[side] else { return }
        var wanted = old.metadata
        if case .describe(let a, let b) = name.decision.outcome { wanted = (side == .a ? a : b) ?? wanted }
        relink(name.path, step, on: side, source: name.sides[side.other] ?? old, old: old, wanted)
    }

    private mutating func relink(
        _ path: RelativePath, _ step: LinkPlanner.Step, on side: Side, source: Observation, old: Observation,
        _ metadata: Metadata? = nil
    ) {
        var action = SyncAction(
            work: .put, side: side, path: path, metadata: metadata ?? old.metadata, source: source, old: old)
        guard case .join(let target) = step else { return files.append(action) }
        action.work = .link(to: target, orCopies: false)
        links.append(action)
    }

    private mutating func create(
        _ source: Observation, on side: Side, _ metadata: Metadata, _ link: LinkPlanner.Step?
    ) {
        let isFolder = source.kind == .directory
        var action = SyncAction(
            work: isFolder ? .makeFolder : .put, side: side, path: source.path, metadata: metadata, source: source)
        if case .join(let target) = link, !isFolder {
            action.work = .link(to: target, orCopies: true)
            links.append(action)
        } else if isFolder {
            folders.append(action)
        } else {
            files.append(action)
        }
    }

    private mutating func copy(_ name: PlannedName, to side: Side, _ metadata: Metadata) {
        guard let source = name.sides[side.other] else { return }
        guard let old = name.sides[side] else { return create(source, on: side, metadata, name.links[side]) }
        var put = SyncAction(
            work: .put, side: side, path: name.path, metadata: metadata, source: source, old: old)
        var isLink = false
        if case .join(let target) = name.links[side] {
            put.work = .link(to: target, orCopies: true)
            isLink = true
        }
        switch (old.kind == .directory, source.kind == .directory) {
        case (false, false): if isLink { links.append(put) } else { files.append(put) }
        case (false, true):
            earlyDeletions.append(SyncAction(work: .delete, side: side, path: name.path, old: old))
            create(source, on: side, metadata, nil)
        case (true, false):
            deletions.append(SyncAction(work: .delete, side: side, path: name.path, old: old))
            put.old = nil
            if isLink { links.append(put) } else { lateFiles.append(put) }
        case (true, true): break
        }
    }

    private mutating func describe(_ name: PlannedName, on side: Side, _ metadata: Metadata) {
        var action = SyncAction(
            work: .describe, side: side, path: name.path, metadata: metadata, source: name.sides[side.other],
            old: name.sides[side])
        if case .describe = name.decision.outcome { action.attributes = name.attributeChanges[side] }
        descriptions.append(action)
    }
}

extension Observation {
    /// The entry under the name and with the metadata that a rename gives it.
    fileprivate func named(_ path: RelativePath, _ metadata: Metadata) -> Observation {
        var entry = self
        entry.path = path
        entry.metadata = metadata
        entry.stamp = FileStamp(
            size: stamp.size, modified: metadata.modified, changed: stamp.changed, inode: stamp.inode,
            device: stamp.device)
        return entry
    }
}
