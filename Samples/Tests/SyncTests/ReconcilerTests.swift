import Sync
import Testing

/// One cell of the table: what happened on each side since the last sync.
struct Cell: Sendable, CustomStringConvertible {
    var a: Change
    var b: Change
    var mode: SyncMode
    var policy: ConflictPolicy

    var description: String { "A \(a.rawValue), B \(b.rawValue), \(mode.rawValue), \(policy.rawValue)" }

    static let all: [Cell] = SyncMode.allCases.flatMap { mode in
        ConflictPolicy.allCases.flatMap { policy in
            Change.allCases.flatMap { a in
                Change.allCases.compactMap { b in
                    // A name is new on both sides, or on none: the archive has it or not.
                    let isNew = (a == .created, b == .created)
                    if isNew.0 != isNew.1, !(a == .none || b == .none) { return nil }
                    return Cell(a: a, b: b, mode: mode, policy: policy)
                }
            }
        }
    }

    static let before = Facts(.file(.archived), Metadata(mode: 0o644, modified: 100))

    var archived: ArchivedFacts? {
        a == .created || b == .created ? nil : ArchivedFacts(a: Self.before, b: Self.before)
    }

    /// What a side has. B's new versions are newer than A's.
    func facts(_ side: Side) -> Facts? {
        let (change, isLater) = side == .a ? (a, false) : (b, true)
        let time: Int64 = isLater ? 300 : 200
        switch change {
        case .none: return archived == nil ? nil : Self.before
        case .created, .content:
            return Facts(.file(side == .a ? .a : .b), Metadata(mode: 0o644, modified: time))
        case .metadata: return Facts(.file(.archived), Metadata(mode: isLater ? 0o600 : 0o755, modified: 100))
        case .type: return Facts(.link(isLater ? [2] : [1]), Metadata(mode: 0o777, modified: time))
        case .deleted: return nil
        }
    }

    var decision: Decision {
        Reconciler(mode: mode, policy: policy).decide(archived: archived, a: facts(.a), b: facts(.b))
    }

    /// The outcome by a table of its own, in words.
    var expected: String {
        if mode == .mirror { return expectedMirror }
        switch (a, b) {
        case (.none, .none): return "keep"
        case (.deleted, .deleted): return "forget"
        case (.created, .none), (.content, .none), (.type, .none): return "A->B"
        case (.none, .created), (.none, .content), (.none, .type): return "B->A"
        case (.content, .metadata), (.type, .metadata): return "A->B"
        case (.metadata, .content), (.metadata, .type): return "B->A"
        case (.metadata, .none): return "describe B"
        case (.none, .metadata): return "describe A"
        case (.metadata, .metadata): return policy == .b ? "describe A" : "describe B"
        case (.deleted, .none), (.deleted, .metadata): return "delete B"
        case (.none, .deleted), (.metadata, .deleted): return "delete A"
        // A removal gives way to a new content, whatever the policy.
        case (.deleted, _): return "B->A"
        case (_, .deleted): return "A->B"
        default:
            return switch policy {
            case .keepBoth: "keep both, B moves"
            case .newer, .b: "B->A"
            case .a: "A->B"
            }
        }
    }

    private var expectedMirror: String {
        switch (a, b) {
        case (.none, .none): "keep"
        case (.deleted, .deleted): "forget"
        case (.none, .created), (.deleted, _): "delete B"
        case (.none, .metadata), (.metadata, .none), (.metadata, .metadata): "describe B"
        default: "A->B"
        }
    }
}

@Suite("The reconciler")
struct ReconcilerTests {
    @Test("every pair of changes, in every mode, with every policy", arguments: Cell.all)
    func table(cell: Cell) {
        let decision = cell.decision
        let outcome =
            switch decision.outcome {
            case .keep: "keep"
            case .record: "record"
            case .link: "link"
            case .forget: "forget"
            case .copy(let side, _, _): "\(side.other.rawValue)->\(side.rawValue)"
            case .describe(let a, let b): "describe\(a == nil ? "" : " A")\(b == nil ? "" : " B")"
            case .delete(let side): "delete \(side.rawValue)"
            case .keepBoth(let side): "keep both, \(side.rawValue) moves"
            case .rename, .renamedAway, .skip: "none of the reconciler's"
            }
        #expect(outcome == cell.expected)
        #expect(decision.changeA == cell.a && decision.changeB == cell.b)
        #expect(!decision.reason.isEmpty)
    }

    @Test("the table has every cell")
    func size() {
        // 25 pairs with an archive entry, 3 without, 2 modes, 4 policies; none with none is in both.
        #expect(Cell.all.count == (25 + 3) * 2 * 4)
    }

    @Test("a new content and new rights of the other side both stay")
    func merge() {
        let before = Facts(.file(.archived), Metadata(mode: 0o644, modified: 100))
        let archived = ArchivedFacts(a: before, b: before)
        let a = Facts(.file(.a), Metadata(mode: 0o644, modified: 200))
        let b = Facts(.file(.archived), Metadata(mode: 0o600, modified: 100))
        let merged = Metadata(mode: 0o600, modified: 200)
        let decision = Reconciler(mode: .twoWay).decide(archived: archived, a: a, b: b)
        #expect(decision.outcome == .copy(to: .b, metadata: merged, source: merged))
    }

    @Test("the same change on both sides needs no copy")
    func agreement() {
        let before = Facts(.file(.archived), Metadata(mode: 0o644, modified: 100))
        let now = Facts(.file(.common), Metadata(mode: 0o644, modified: 200))
        for archived in [nil, ArchivedFacts(a: before, b: before)] {
            #expect(Reconciler(mode: .twoWay).decide(archived: archived, a: now, b: now).outcome == .record)
        }
    }

    @Test("a field that a file system cannot keep is no change", arguments: SyncMode.allCases)
    func poorFileSystem(mode: SyncMode) {
        let a = Facts(.file(.archived), Metadata(mode: 0o600, modified: 123_456_789))
        let b = Facts(.file(.archived), Metadata(mode: 0o755, modified: 122_000_000))
        let archived = ArchivedFacts(a: a, b: b)
        #expect(Reconciler(mode: mode).decide(archived: archived, a: a, b: b).outcome == .keep)
        var touched = a
        touched.metadata.modified = 500
        let decision = Reconciler(mode: mode).decide(archived: archived, a: touched, b: b)
        #expect(decision.outcome == .describe(a: nil, b: Metadata(mode: 0o755, modified: 500)))
    }

    @Test("a folder against another kind keeps both, with every policy", arguments: ConflictPolicy.allCases)
    func folder(policy: ConflictPolicy) {
        let folder = Facts(.folder, Metadata(mode: 0o755))
        let file = Facts(.file(.b), Metadata(mode: 0o644, modified: 5))
        let reconciler = Reconciler(mode: .twoWay, policy: policy)
        #expect(reconciler.decide(archived: nil, a: folder, b: file).outcome == .keepBoth(moving: .b))
        #expect(reconciler.decide(archived: nil, a: file, b: folder).outcome == .keepBoth(moving: .a))
    }
}
