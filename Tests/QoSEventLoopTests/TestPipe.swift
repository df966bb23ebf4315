import Glibc
import Synchronization

/// A pipe that children do not inherit; its ends are closed with this object at the latest.
final class TestPipe: Sendable {
    let reader: Int32
    let writer: Int32
    private let isReaderOpen = Atomic(true)
    private let isWriterOpen = Atomic(true)

    init() {
        var ends: [Int32] = [-1, -1]
        unsafe pipe(&ends)
        (reader, writer) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        closeReader()
        closeWriter()
    }

    func closeReader() {
        if isReaderOpen.exchange(false, ordering: .relaxed) {
            close(reader)
        }
    }

    func closeWriter() {
        if isWriterOpen.exchange(false, ordering: .relaxed) {
            close(writer)
        }
    }

    func write(_ byte: UInt8 = 0) {
        var byte = byte
        unsafe _ = Glibc.write(writer, &byte, 1)
    }

    func read() {
        var byte: UInt8 = 0
        unsafe _ = Glibc.read(reader, &byte, 1)
    }
}
