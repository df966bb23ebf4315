/// Decides about one name from what both sides have, and had at the end of the last sync. A value: it reads nothing.
///
/// In mode two-way, no content is lost that a side has and the last sync did not see. A removal gives way to such a
/// content, and the policy ``ConflictPolicy/keepBoth`` keeps both contents. The other policies replace one of two
/// contents, as their names say. Metadata alone is merged field by field. If both sides changed a field, the policy
/// decides, and A wins with `keepBoth`.
public struct Reconciler: Sendable {
    /// The direction.
    public var mode: SyncMode
    /// The way out of conflicts.
    public var policy: ConflictPolicy

    /// Makes a reconciler.
    public init(mode: SyncMode, policy: ConflictPolicy = .keepBoth) {
        self.mode = mode
        self.policy = policy
    }

    /// Decides.
    ///
    /// - Parameters:
    ///   - archived: What both sides had; nil if the last sync saw no such name.
    ///   - a: What A has.
    ///   - b: What B has.
    public func decide(archived: ArchivedFacts?, a: Facts?, b: Facts?) -> Decision {
        var decision = Decision(
            outcome: .keep, changeA: Change(from: archived?.a, to: a), changeB: Change(from: archived?.b, to: b),
            reason: "in step")
        switch (a, b) {
        case (nil, nil):
            if archived != nil { (decision.outcome, decision.reason) = (.forget, "gone on both sides") }
        case (let a?, nil): missing(on: .b, a, &decision)
        case (nil, let b?): missing(on: .a, b, &decision)
        case (let a?, let b?):
            if a.content == b.content {
                sameContent(archived, a, b, &decision)
            } else {
                otherContent(archived, a, b, &decision)
            }
        }
        return decision
    }

    private func missing(on side: Side, _ there: Facts, _ decision: inout Decision) {
        let copy = Decision.Outcome.copy(to: side, metadata: there.metadata, source: nil)
        let (gone, changed) =
            side == .a ? (decision.changeA, decision.changeB) : (decision.changeB, decision.changeA)
        switch (mode, side) {
        case (.mirror, .a): (decision.outcome, decision.reason) = (.delete(on: .b), "A does not have it")
        case (.mirror, .b): (decision.outcome, decision.reason) = (copy, gone == .deleted ? "B lost it" : "new on A")
        case (.twoWay, _):
            if gone != .deleted {
                (decision.outcome, decision.reason) = (copy, "new on \(side.other.rawValue)")
            } else if changed.isNewContent {
                decision.outcome = copy
                decision.reason = "removed on \(side.rawValue), but changed on \(side.other.rawValue): the change stays"
            } else {
                (decision.outcome, decision.reason) = (.delete(on: side.other), "removed on \(side.rawValue)")
            }
        }
    }

    private func sameContent(_ archived: ArchivedFacts?, _ a: Facts, _ b: Facts, _ decision: inout Decision) {
        let wanted = merge(archived, a, b)
        let forA = wanted.a == a.metadata ? nil : wanted.a
        let forB = wanted.b == b.metadata ? nil : wanted.b
        if forA != nil || forB != nil {
            decision.outcome = .describe(a: forA, b: forB)
            decision.reason = "same content, other attributes"
        } else if decision.changeA != .none || decision.changeB != .none {
            (decision.outcome, decision.reason) = (.record, "the same on both sides")
        }
    }

    private func otherContent(_ archived: ArchivedFacts?, _ a: Facts, _ b: Facts, _ decision: inout Decision) {
        let isChangedA = decision.changeA.isNewContent
        let isChangedB = decision.changeB.isNewContent
        if mode == .mirror {
            decision.outcome = .copy(to: .b, metadata: a.metadata, source: nil)
            decision.reason = isChangedB ? "B is not as A" : "changed on A"
        } else if isChangedA, !isChangedB {
            copy(from: .a, archived, a, b, &decision)
            decision.reason = "changed on A"
        } else if isChangedB, !isChangedA {
            copy(from: .b, archived, a, b, &decision)
            decision.reason = "changed on B"
        } else {
            conflict(archived, a, b, &decision)
        }
    }

    private func conflict(_ archived: ArchivedFacts?, _ a: Facts, _ b: Facts, _ decision: inout Decision) {
        decision.isConflict = true
        // The entries of a folder have versions of their own, so no version of a folder replaces another entry.
        if a.content == .folder || b.content == .folder {
            let moved: Side = a.content == .folder ? .b : .a
            decision.outcome = .keepBoth(moving: moved)
            decision.reason = "a folder on \(moved.other.rawValue) only"
            return
        }
        guard let winner = winner(a, b) else {
            decision.outcome = .keepBoth(moving: .b)
            decision.reason = "both sides changed it; both versions stay"
            return
        }
        copy(from: winner, archived, a, b, &decision)
        decision.reason = "both sides changed it; \(winner.rawValue) wins (\(policy.rawValue))"
    }

    /// The side that wins if both changed something; nil if the policy knows none.
    func winner(_ a: Facts, _ b: Facts) -> Side? {
        switch policy {
        case .keepBoth: nil
        case .newer: a.metadata.modified >= b.metadata.modified ? .a : .b
        case .a: .a
        case .b: .b
        }
    }

    private func copy(
        from side: Side, _ archived: ArchivedFacts?, _ a: Facts, _ b: Facts, _ decision: inout Decision
    ) {
        let source = side == .a ? a : b
        var wanted = Pair(a: source.metadata, b: source.metadata)
        if archived != nil, decision.changeA != .type, decision.changeB != .type {
            wanted = merge(archived, a, b)
            // The time belongs to the content. The other fields may have changed without it.
            wanted.a.modified = source.metadata.modified
            wanted.b.modified = source.metadata.modified
        }
        decision.outcome = .copy(
            to: side.other, metadata: wanted[side.other],
            source: wanted[side] == source.metadata ? nil : wanted[side])
    }

    /// Merges the metadata of both sides, field by field. A field that no side changed stays, even if it differs: the
    /// file system of a side may not be able to keep it.
    private func merge(_ archived: ArchivedFacts?, _ a: Facts, _ b: Facts) -> Pair<Metadata> {
        var wanted = Pair(a: a.metadata, b: b.metadata)
        func mergeField<Field: Equatable>(_ field: WritableKeyPath<Metadata, Field>) {
            guard a.metadata[keyPath: field] != b.metadata[keyPath: field] else { return }
            let isChangedA = archived.map { $0.a.metadata[keyPath: field] != a.metadata[keyPath: field] } ?? true
            let isChangedB = archived.map { $0.b.metadata[keyPath: field] != b.metadata[keyPath: field] } ?? true
            if isChangedA || (mode == .mirror && isChangedB) {
                let takesB = mode == .twoWay && isChangedB && winner(a, b) == .b
                let value = (takesB ? b : a).metadata[keyPath: field]
                wanted[takesB ? .a : .b][keyPath: field] = value
            } else if isChangedB {
                wanted.a[keyPath: field] = b.metadata[keyPath: field]
            }
        }
        mergeField(\.mode)
        mergeField(\.owner)
        mergeField(\.group)
        mergeField(\.modified)
        return wanted
    }
}
