internal import Glibc

/// A descriptor that is closed at the end of its life.
final class OpenDescriptor: Sendable {
    let number: Int32

    init(owning number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Puts content and metadata on the disk. Returns the error number, or 0.
    func synchronize() -> Int32 {
        fsync(number) == 0 ? 0 : errno
    }
}
