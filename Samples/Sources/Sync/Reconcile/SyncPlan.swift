internal import TreeScan

/// A name with what is known of it, and the decision.
struct PlannedName: Sendable {
    var path: RelativePath
    var archived: ArchiveEntry?
    var sides: Pair<Observation?>
    var decision: Decision
    /// The name that one version gets, or the name that an entry had.
    var otherName: RelativePath?
    /// The entry that the side across renames.
    var renamed: Observation?
    /// The digest of the content, if the archive has it, and both sides are known to have that content.
    var digest: [UInt8]?
    /// The extended attributes of both sides, as far as the plan needed them.
    var attributes: Pair<AttributePrint?> = Pair(a: nil, b: nil)
    /// The attributes that each side gets from the other one.
    var attributeChanges = Pair(a: AttributeChange(), b: AttributeChange())
    /// What becomes of the name among the names of one file, on each side.
    var links: Pair<LinkPlanner.Step?> = Pair(a: nil, b: nil)
    /// The same for the name that a version of a conflict gets.
    var otherLinks: Pair<LinkPlanner.Step?> = Pair(a: nil, b: nil)

    /// What a side has, for the archive.
    ///
    /// - Parameter time: The start of the scan.
    func state(on side: Side, at time: Int64) -> ArchiveEntry.SideState? {
        guard let entry = sides[side] else { return nil }
        var state = ArchiveEntry.SideState(entry, at: time)
        // What was certain before the scan is not less certain because the scan was early.
        if let archived, archived.kind == .regular, entry.kind == .regular,
            Doubt(entry, archived.sides[side]) == .none
        {
            state.isRacy = false
        }
        let isAsBefore = archived?.sides[side].changed == state.changed && archived?.sides[side].inode == state.inode
        state.attributes = attributes[side] ?? (isAsBefore ? archived?.sides[side].attributes : nil)
        return state
    }
}

/// All that a sync is going to do. A value: nothing was done yet.
struct SyncPlan: Sendable {
    /// The names that are not in step, in the order of bytes.
    var names: [PlannedName] = []
    /// The steps, in the order in which they are done.
    var actions: [SyncAction] = []
    /// The number of names that are in step.
    var unchanged = 0
    /// The number of entries of each side.
    var totals = Pair(a: 0, b: 0)
    /// The number of entries in the archive.
    var archived = 0
    /// The entries that stay as they are, for people.
    var skipped: [String] = []
    /// Names that are in step and that a step of another name of the same file touches.
    var touchedLinks: Set<RelativePath> = []
    /// What becomes of names outside of the folders, for people.
    var notes: [String] = []

    /// Notes the digests of files that both sides have.
    mutating func noteDigests(_ digest: (RelativePath) -> [UInt8]?) {
        for index in names.indices where names[index].digest == nil {
            switch names[index].decision.outcome {
            case .record, .describe: names[index].digest = digest(names[index].path)
            default: break
            }
        }
    }

    /// The number of entries that a side loses.
    func deletions(on side: Side) -> Int {
        names.count { if case .delete(side) = $0.decision.outcome { true } else { false } }
    }

    /// Returns the reason why nothing of the plan may be done, if there is one.
    ///
    /// - Parameter percent: The share of a side's entries that may be removed, 0 to 100.
    func refusal(maximumDeletions percent: Int) -> SyncError? {
        for side in Side.allCases {
            if totals[side] == 0, archived > 0 { return .emptySide(side, archived: archived) }
            let count = deletions(on: side)
            if count > 0, count * 100 > totals[side] * percent {
                return .tooManyDeletions(side, count: count, total: totals[side], percent: percent)
            }
        }
        return nil
    }
}
