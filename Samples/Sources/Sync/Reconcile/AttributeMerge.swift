/// Merges the extended attributes of both sides, one by one, as `Reconciler` merges metadata.
struct AttributeMerge {
    /// What both sides had at the end of the last sync; nil if it is not known.
    let archived: Pair<AttributePrint?>
    let mode: SyncMode
    /// Whether B's attribute wins if both sides changed it.
    let prefersB: Bool

    /// Returns what each side gets.
    ///
    /// An attribute that no side changed stays, even if it differs: the file system of a side may not be able to keep it.
    func changes(a: AttributePrint, b: AttributePrint) -> Pair<AttributeChange> {
        var changes = Pair(a: AttributeChange(), b: AttributeChange())
        guard a != b else { return changes }
        for name in Set(a.digests.keys).union(b.digests.keys) where a.digests[name] != b.digests[name] {
            let isChangedA = isChanged(name, archived.a, a)
            let isChangedB = isChanged(name, archived.b, b)
            let target: Side
            if isChangedA || (mode == .mirror && isChangedB) {
                target = mode == .twoWay && isChangedB && prefersB ? .a : .b
            } else if isChangedB {
                target = .a
            } else {
                continue
            }
            if (target == .a ? b : a).digests[name] == nil {
                changes[target].removed.insert(name)
            } else {
                changes[target].copied.insert(name)
            }
        }
        return changes
    }

    /// Of an unknown past, what is there is new, and what is not there is no removal.
    private func isChanged(_ name: [UInt8], _ before: AttributePrint?, _ now: AttributePrint) -> Bool {
        before.map { $0.digests[name] != now.digests[name] } ?? (now.digests[name] != nil)
    }
}
