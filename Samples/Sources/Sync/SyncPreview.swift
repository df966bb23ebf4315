internal import TreeScan

/// What a sync is going to do, for people and for programs.
public struct SyncPreview: Sendable, Codable, Hashable {
    /// One name that is not in step.
    public struct Line: Sendable, Codable, Hashable {
        /// The name, safe to print.
        public var path: String
        /// What happened on A.
        public var changeA: String
        /// What happened on B.
        public var changeB: String
        /// What the sync does.
        public var action: String
        /// Why.
        public var reason: String
        /// Whether both sides changed the content.
        public var isConflict: Bool
    }

    /// The names that are not in step, in the order of their bytes.
    public var lines: [Line]
    /// The number of names that are in step.
    public var unchanged: Int
    /// The entries that stay as they are, each with its reason.
    public var skipped: [String]
    /// The reason why a run would do nothing of this; nil if it would.
    public var refusal: String?

    /// Whether a run would leave conflicts, or entries that stay as they are.
    public var hasLeftovers: Bool { !skipped.isEmpty || lines.contains(where: \.isConflict) }

    init(_ plan: SyncPlan, maximumDeletions: Int) {
        lines = plan.names.compactMap(Line.init)
        unchanged = plan.unchanged
        skipped = plan.skipped
        refusal = plan.refusal(maximumDeletions: maximumDeletions)?.description
    }
}

extension SyncPreview.Line {
    fileprivate init?(_ name: PlannedName) {
        let other = name.otherName?.display ?? ""
        switch name.decision.outcome {
        case .keep, .record, .forget: return nil
        case .copy(let side, _, _): action = "\(side.other.rawValue) -> \(side.rawValue)"
        case .describe(let a, let b): action = "attributes of \(a == nil ? "B" : b == nil ? "A" : "A and B")"
        case .link:
            let sides = Side.allCases.filter { name.links[$0] != nil }
            action = "link on \(sides.map(\.rawValue).joined(separator: " and "))"
        case .delete(let side): action = "remove on \(side.rawValue)"
        case .keepBoth(let side): action = "keep both: \(side.rawValue)'s becomes \(other)"
        case .rename(let side, _): action = "rename on \(side.rawValue) from \(other)"
        case .renamedAway: action = "renamed to \(other)"
        case .skip: action = "nothing"
        }
        path = name.path.display
        changeA = name.decision.changeA.rawValue
        changeB = name.decision.changeB.rawValue
        reason = name.decision.reason
        isConflict = name.decision.isConflict
    }
}
