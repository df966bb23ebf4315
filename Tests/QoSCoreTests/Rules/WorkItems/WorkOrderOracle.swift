@testable import QoSCore

/// What ``WorkOrder`` is held against: one list in the order of submission, asked anew for everything, straight from the rules.
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

    /// Whether the item has to wait for those in front of it (rules B1, B11).
    private func waits(_ index: Int) -> Bool {
        let before = items[..<index]
        return excludes(items[index]) ? !before.isEmpty : before.contains(where: excludes)
    }

    /// The next to get its turn: the first that has none, if it may.
    var next: Int? {
        guard suspensions == 0, let index = items.firstIndex(where: { !$0.isActive }) else { return nil }
        return waits(index) ? nil : index
    }

    /// What is demanded of active items (rules I1, I3, B13, B15): the levels of all that stand behind them and have to wait for
    /// them, directly or behind others that do.
    var raise: LevelCode {
        guard items.contains(where: \.isActive) else { return .none }
        let demanding = items.indices.filter { index in !items[index].isActive && waits(index) }
        return demanding.map { items[$0].level }.max() ?? .none
    }

    var highestHeld: LevelCode {
        items.filter { !$0.isActive }.map(\.level).max() ?? .none
    }
}
