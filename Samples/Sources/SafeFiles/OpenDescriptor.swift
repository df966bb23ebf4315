internal import Glibc

/// A descriptor that is closed at the end of its life.
public final class OpenDescriptor: Sendable {
    /// The number.
    public let number: Int32

    /// Takes over a descriptor.
    public init(owning number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Puts content and metadata on the disk. Returns the error number, or 0.
    public func synchronize() -> Int32 {
        fsync(number) == 0 ? 0 : errno
    }
}
