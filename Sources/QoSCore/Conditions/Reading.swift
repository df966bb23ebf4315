/// A value that a machine shows, or the reason why it shows none.
package enum Reading<Value: Sendable>: Sendable {
    /// The value.
    case known(Value)
    /// The missing or broken source, for people: `no thermal zone in /sys/class/thermal`.
    case unknown(String)

    /// The value; `nil` without one.
    package var value: Value? {
        guard case .known(let value) = self else { return nil }
        return value
    }

    /// The reason for the missing value; `nil` with a value.
    package var problem: String? {
        guard case .unknown(let problem) = self else { return nil }
        return problem
    }
}

extension Reading: Equatable where Value: Equatable {}
