@testable import QoSCore

/// A ``WorkOrder`` by reference, so that its events can stand in expectations.
@dynamicMemberLookup
final class OrderUnderTest {
    private var order: WorkOrder

    init(isSerial: Bool) {
        order = WorkOrder(isSerial: isSerial)
    }

    subscript<Member>(dynamicMember member: KeyPath<WorkOrder, Member>) -> Member { order[keyPath: member] }

    func added(token: UInt, level: LevelCode, isBarrier: Bool) -> Int {
        order.added(token: token, level: level, isBarrier: isBarrier)
    }

    func next() -> UInt? { order.next() }

    func entered(isBarrier: Bool) -> Bool { order.entered(isBarrier: isBarrier) }

    func ended() { order.ended() }

    func levelChanged(of sequence: Int, to level: LevelCode) { order.levelChanged(of: sequence, to: level) }

    func suspended() { order.suspended() }

    func resumed() -> Bool { order.resumed() }
}
