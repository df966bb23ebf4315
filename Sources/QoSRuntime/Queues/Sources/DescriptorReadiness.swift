import QoSEventLoop

/// The states for which a descriptor is ready.
public struct DescriptorReadiness: OptionSet, Sendable, Hashable {
    /// The events as bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The descriptor can be read without blocking, or its end was reached.
    public static let readable = DescriptorReadiness(rawValue: 1 << 0)

    /// The descriptor can be written without blocking.
    public static let writable = DescriptorReadiness(rawValue: 1 << 1)

    /// The peer of a socket closed its writing side.
    public static let disconnected = DescriptorReadiness(rawValue: 1 << 2)

    /// The descriptor cannot be watched any longer. A read or a write of it shows why. No more events come.
    public static let failed = DescriptorReadiness(rawValue: 1 << 7)

    var watched: DescriptorEvents {
        var events = DescriptorEvents()
        if contains(.readable) { events.insert(.readable) }
        if contains(.writable) { events.insert(.writable) }
        if contains(.disconnected) { events.insert(.disconnected) }
        return events
    }

    init(_ outcome: DescriptorWatch.Outcome) {
        self = []
        switch outcome {
        case .failure: insert(.failed)
        case .success(let events):
            if events.contains(.readable) { insert(.readable) }
            if events.contains(.writable) { insert(.writable) }
            if events.contains(.disconnected) { insert(.disconnected) }
        }
    }
}
