@testable import QoSCore

/// The oracle for ``WorkOrder``: one list in the order of submission, asked anew for everything, straight from the
/// rules.
struct WorkOrderOracle {
    struct Item {
        let token: UInt
        var level: LevelCode
        let isBarrier: Bool
        var isActive: Bool
    }

    let isSerial: Bool
    var items: [Item] = []
    var suspensions = 0

    private func excludes(_ item: Item) -> Bool { isSerial || item.isBarrier }

    /// For each item, whether it waits for earlier ones (rules B1, B11).
    private var waits: [Bool] {
        var hasExclusive = false
        return items.enumerated().map { index, item in
            defer { hasExclusive = hasExclusive || excludes(item) }
            return excludes(item) ? index > 0 : hasExclusive
        }
    }

    /// The next to get its turn: the first that has none, if it may.
    var next: Int? {
        guard suspensions == 0, let index = items.firstIndex(where: { !$0.isActive }) else { return nil }
        return waits[index] ? nil : index
    }

    /// What is demanded of active items (rules I1, I3, B13, B15): the levels of all that stand behind them and have to
    /// wait for them, directly or behind others that do.
    var raise: LevelCode {
        guard items.contains(where: \.isActive) else { return .none }
        return zip(items, waits).filter { !$0.isActive && $1 }.map { $0.0.level }.max() ?? .none
    }

    var highestHeld: LevelCode {
        items.filter { !$0.isActive }.map(\.level).max() ?? .none
    }
}
