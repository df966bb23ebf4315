internal import CLibUV

/// The kinds of readiness of a descriptor.
package struct DescriptorEvents: OptionSet, Sendable, Hashable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// It can be read without blocking, or its end was reached.
    package static let readable = DescriptorEvents(rawValue: Int32(UV_READABLE.rawValue))
    /// It can be written without blocking.
    package static let writable = DescriptorEvents(rawValue: Int32(UV_WRITABLE.rawValue))
    /// The peer of a socket closed its writing side.
    package static let disconnected = DescriptorEvents(rawValue: Int32(UV_DISCONNECT.rawValue))
    /// Out-of-band data of a socket, or an event of a file of the kernel such as a pressure trigger (`POLLPRI`).
    package static let priority = DescriptorEvents(rawValue: Int32(UV_PRIORITIZED.rawValue))
}
