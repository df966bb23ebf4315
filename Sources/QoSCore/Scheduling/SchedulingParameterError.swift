/// A scheduling constant that the scheduler cannot work with.
package enum SchedulingParameterError: Error, Sendable, Hashable {
    /// A duration below zero, with its name.
    case negative(String, Duration)
    /// A quantum that gives a starving class no time.
    case quantumNotPositive(Duration)
    /// A number of cores per worker below 1.
    case coresPerWorkerOutOfRange(Int)
    /// A lower class with a shorter worst-case wait than a higher one.
    case waitsOutOfOrder(lower: Duration, higher: Duration)
}

extension SchedulingParameterError: CustomStringConvertible {
    /// The refused value, and the values that are accepted.
    package var description: String {
        switch self {
        case .negative(let name, let value):
            "\(name) is \(value): use zero or more"
        case .quantumNotPositive(let value):
            "the quantum is \(value): use more than zero, or a starving class would get no time"
        case .coresPerWorkerOutOfRange(let value):
            "coresPerWorker is \(value): use 1 (a worker per core) or more"
        case .waitsOutOfOrder(let lower, let higher):
            "a lower class waits at most \(lower) and a higher one \(higher): "
                + "give the lower class a longer worst-case wait"
        }
    }
}
