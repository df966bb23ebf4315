import Glibc

/// A new folder that is removed, with the files in it, with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/qos-event-loop-XXXXXX".utf8CString)
        path = try unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else { throw Failure(number: errno) }
            return unsafe String(cString: made)
        }
    }

    deinit {
        for name in ["a", "b", "output"] {
            unsafe unlink("\(path)/\(name)")
        }
        unsafe rmdir(path)
    }

    /// Creates or replaces a file.
    func write(_ name: String, _ text: String = "") {
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes { bytes in _ = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        close(descriptor)
    }

    /// The contents of a file, up to 64 KiB.
    func read(_ name: String) -> String {
        let descriptor = unsafe open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    struct Failure: Error {
        let number: Int32
    }
}
