import CBenchShims
import Glibc

/// The files of B9, in a folder of their own on the disk.
struct DiskFiles {
    static let foregroundSize = 256 << 20
    static let backgroundSize = 128 << 20

    let folder: String

    /// Makes the files that background work uses, and the one of the foreground on demand.
    init(background: Int, hasForeground: Bool) throws(DiskFailure) {
        folder = "/var/tmp/qos-bench-\(getpid())"
        guard unsafe mkdir(folder, 0o700) == 0 else { throw DiskFailure("mkdir \(folder)", errno) }
        do {
            if hasForeground { try Self.make(foreground, Self.foregroundSize) }
            for number in 0..<background { try Self.make(path(number), Self.backgroundSize) }
        } catch {
            remove()
            throw error
        }
    }

    var foreground: String { "\(folder)/f" }

    func path(_ number: Int) -> String { "\(folder)/\(number)" }

    func remove() {
        for name in ["f", "0", "1", "2", "3"] { _ = unsafe unlink("\(folder)/\(name)") }
        _ = unsafe rmdir(folder)
    }

    private static func make(_ path: String, _ size: Int) throws(DiskFailure) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DiskFailure("open \(path)", errno) }
        defer { close(descriptor) }
        let data = [UInt8](repeating: 1, count: 1 << 20)
        for place in stride(from: 0, to: size, by: data.count) {
            guard unsafe pwrite(descriptor, data, data.count, off_t(place)) == data.count else {
                throw DiskFailure("write \(path)", errno)
            }
        }
        fsync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    }
}

/// A call of B9 that failed.
struct DiskFailure: Error, CustomStringConvertible {
    let description: String

    init(_ text: String, _ code: Int32) { description = code == 0 ? text : "\(text): error \(code)" }
}

/// A descriptor whose I/O passes the page cache, with a buffer that suits it. One piece at a time.
@safe
final class DirectFile: Sendable {
    let descriptor: Int32
    private let size: Int
    // SAFETY: one call at a time uses the memory; the callers take turns.
    private nonisolated(unsafe) let buffer: UnsafeMutableRawBufferPointer

    init(_ path: String, writes: Bool, size: Int) throws(DiskFailure) {
        descriptor = unsafe bench_open_direct(path, writes ? 1 : 0)
        guard descriptor >= 0 else { throw DiskFailure("open \(path)", -descriptor) }
        self.size = size
        unsafe buffer = .allocate(byteCount: size, alignment: 4096)
        unsafe memset(buffer.baseAddress!, 7, size)
    }

    deinit {
        close(descriptor)
        unsafe buffer.deallocate()
    }

    func read(at place: Int, _ count: Int) -> Int {
        unsafe pread(descriptor, buffer.baseAddress, min(count, size), off_t(place))
    }

    func write(at place: Int, _ count: Int) -> Int {
        unsafe pwrite(descriptor, buffer.baseAddress, min(count, size), off_t(place))
    }
}
