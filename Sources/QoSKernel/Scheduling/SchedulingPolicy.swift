/// The kernel's rule for choosing a thread to run (sched(7)).
package enum SchedulingPolicy: Sendable, Hashable {
    /// SCHED_OTHER: the fair policy, weighted by nice.
    case other
    /// SCHED_BATCH: the fair policy without preempting others on wake-up.
    case batch
    /// SCHED_IDLE: runs beside anything else with almost no weight; nice and slice do not count.
    case idle
    /// SCHED_FIFO with a priority of 1…99: runs until it blocks.
    case fifo(priority: Int)
    /// SCHED_RR with a priority of 1…99: SCHED_FIFO in turns.
    case roundRobin(priority: Int)
    /// A policy that is only read here (SCHED_DEADLINE, SCHED_EXT), by its number; setting it is EINVAL.
    case foreign(number: UInt32)
}

extension SchedulingPolicy {
    /// The policy of a number and a real-time priority, as sched_getattr(2) returns them.
    init(number: UInt32, priority: UInt32) {
        self =
            switch number {
            case 0: .other
            case 1: .fifo(priority: Int(priority))
            case 2: .roundRobin(priority: Int(priority))
            case 3: .batch
            case 5: .idle
            default: .foreign(number: number)
            }
    }

    /// The number for sched_setattr(2), as `/proc/<tid>/stat` shows it.
    package var number: UInt32 {
        switch self {
        case .other: 0
        case .fifo: 1
        case .roundRobin: 2
        case .batch: 3
        case .idle: 5
        case .foreign(let number): number
        }
    }

    /// The real-time priority; 0 for the fair policies.
    package var priority: Int {
        switch self {
        case .fifo(let priority), .roundRobin(let priority): priority
        case .other, .batch, .idle, .foreign: 0
        }
    }

    /// Whether nice and slice count for it.
    package var isFair: Bool {
        switch self {
        case .other, .batch: true
        case .idle, .fifo, .roundRobin, .foreign: false
        }
    }

    /// Whether this package can ask for it: the fair ones, and real-time ones with a priority of 1…99.
    var isSettable: Bool {
        switch self {
        case .other, .batch, .idle: true
        case .fifo(let priority), .roundRobin(let priority): 1...99 ~= priority
        case .foreign: false
        }
    }
}

extension SchedulingPolicy: CustomStringConvertible {
    /// `OTHER`, `BATCH`, `IDLE`, `FIFO 10`, `RR 10`, `policy 6`.
    package var description: String {
        switch self {
        case .other: "OTHER"
        case .batch: "BATCH"
        case .idle: "IDLE"
        case .fifo(let priority): "FIFO \(priority)"
        case .roundRobin(let priority): "RR \(priority)"
        case .foreign(let number): "policy \(number)"
        }
    }
}
