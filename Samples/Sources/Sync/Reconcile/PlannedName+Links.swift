internal import TreeScan

extension PlannedName {
    /// Whether a side has a regular file with several names under this one.
    var hasSeveralNames: Bool {
        Side.allCases.contains { side in sides[side].map { $0.kind == .regular && $0.links > 1 } ?? false }
    }

    /// The name among the names of files; nil if no side has a regular file under it at the end.
    func linkedName(archived row: ArchiveEntry?) -> LinkedName? {
        var name = LinkedName(path: path, files: Pair(a: file(.a), b: file(.b)), origin: nil, archived: nil)
        if let row, row.kind == .regular {
            name.archived = Pair(a: row.sides.a.inode, b: row.sides.b.inode)
        }
        switch decision.outcome {
        case .keep, .record, .describe, .link: break
        case .copy(let side, _, _): name.origin = side.other
        case .rename(let side, _): name.files[side] = renamed.map { LinkedName.File($0) }
        case .keepBoth(let side):
            name.origin = side.other
            name.archived = nil
        case .forget, .delete, .renamedAway, .skip: return nil
        }
        guard name.remaining(on: name.origin ?? .a) != nil else { return nil }
        if let origin = name.origin { name.files[origin.other] = nil }
        return name
    }

    /// The name that the version of a conflict gets, among the names of files.
    var linkedOtherName: LinkedName? {
        guard case .keepBoth(let side) = decision.outcome, let otherName, let file = file(side) else { return nil }
        var name = LinkedName(path: otherName, files: Pair(a: nil, b: nil), origin: side, archived: nil)
        name.files[side] = file
        return name
    }

    private func file(_ side: Side) -> LinkedName.File? {
        sides[side].flatMap { $0.kind == .regular ? LinkedName.File($0) : nil }
    }
}
