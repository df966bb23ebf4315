internal import QoSCore

/// The parts of a host that an attempt uses.
struct AttemptServices: Sendable {
    let store: any WorkloadStore
    let clock: any WorkloadClock
    let throttle: (@Sendable (_ bytes: Int, _ operations: Int, _ qosClass: QoSClass) async throws -> Void)?
    let observe: @Sendable (WorkloadHostEvent) -> Void
}
