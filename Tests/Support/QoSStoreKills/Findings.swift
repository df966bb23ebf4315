#if SQLite
/// What a journal says about a series of kills.
struct Findings {
    var inserted = 0
    var finished = 0
    /// Acknowledged items that did not finish.
    var lost: [Int64] = []
    /// Checkpoints that were acknowledged under a lease after a later lease was seen.
    var oldFences: [Int64] = []
    /// Steps that ran again although a later checkpoint was acknowledged.
    var forgotten: [Int64] = []
    /// The largest number of steps that one new attempt repeated.
    var repeatedAtMost = 0
    /// The number of steps that ran more than once.
    var repeated = 0
    /// The number of items that needed more than one lease.
    var rescued = 0
    /// Steps that ran after an acknowledged end.
    var afterEnd: [Int64] = []

    init(_ lines: [[Substring]], finished states: Set<Int64>) {
        struct Item {
            var fence: UInt64 = 0
            var leases = 0
            var saved = 0
            var reached = 0
            var hasEnded = false
        }
        var items: [Int64: Item] = [:]
        for line in lines {
            guard line.count > 1, let id = Int64(line[1]) else { continue }
            switch line[0] {
            case "inserted":
                inserted += 1
                if !states.contains(id) { lost.append(id) }
            case "ended": items[id, default: Item()].hasEnded = true
            case "ran", "saved":
                guard line.count > 3, let step = Int(line[2]), let fence = UInt64(line[3]) else { continue }
                var item = items[id] ?? Item()
                if line[0] == "ran" {
                    if item.hasEnded { afterEnd.append(id) }
                    if fence > item.fence {
                        item.leases += 1
                        if item.leases == 2 { rescued += 1 }
                        repeatedAtMost = max(repeatedAtMost, item.reached - step)
                    }
                    if step < item.reached { repeated += 1 }
                    if step < item.saved { forgotten.append(id) }
                    item.reached = max(item.reached, step + 1)
                } else {
                    if fence < item.fence { oldFences.append(id) }
                    item.saved = max(item.saved, step)
                }
                item.fence = max(item.fence, fence)
                items[id] = item
            default: break
            }
        }
        finished = states.count
    }

    var isClean: Bool {
        lost.isEmpty && oldFences.isEmpty && forgotten.isEmpty && afterEnd.isEmpty && repeatedAtMost <= 1
    }

    var lines: [String] {
        [
            "acknowledged=\(inserted)", "finished=\(finished)", "lost=\(lost.count)", "rescued=\(rescued)",
            "repeatedSteps=\(repeated)", "repeatedAtMost=\(repeatedAtMost)", "forgottenCheckpoints=\(forgotten.count)",
            "oldFences=\(oldFences.count)", "runAfterEnd=\(afterEnd.count)",
        ]
    }
}
#endif
