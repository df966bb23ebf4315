import Glibc
import QoSFileTestSupport
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSFiles

@Suite("Reading files", .timeLimit(.minutes(5)))
struct ReadingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("qos-files") }

    /// Writes a file of numbered bytes, and returns them.
    private func make(_ name: String, _ count: Int) throws -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let descriptor = unsafe open(folder[name], O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(unsafe write(descriptor, bytes, count) == count)
        return bytes
    }

    @Test("S4 any part of a file is read as it is, by every class", arguments: QoSClass.allCases)
    func parts(qosClass: QoSClass) async throws {
        let bytes = try make("data", 3_000_000)
        let path = folder["data"]
        try await withScheduler { scheduler in
            let parts = try await scheduler.run(at: qosClass) {
                let file = try await QoSFile.open(path, throttle: IOThrottle())
                var parts: [[UInt8]] = []
                for (offset, count) in [(0, 10), (4095, 2), (0, 3_000_000), (2_999_999, 5), (5_000_000, 7), (3, 0)] {
                    parts.append(try await file.read(count, at: Int64(offset)))
                }
                #expect(try await file.size() == 3_000_000)
                try await file.close()
                return parts
            }
            #expect(parts[0] == Array(bytes[..<10]) && parts[1] == Array(bytes[4095..<4097]))
            #expect(parts[2] == bytes && parts[3] == [bytes[2_999_999]])
            #expect(parts[4].isEmpty && parts[5].isEmpty)
        }
    }

    @Test("S4 the pieces of a read fill one array, which is not moved")
    func onePlace() {
        let bytes = ReadBytes(1 << 20)
        var places: [UInt] = []
        for number in 0..<4 as Range<UInt8> {
            let count = unsafe bytes.append(200_000) { buffer in
                places.append(UInt(bitPattern: buffer.baseAddress))
                for index in 0..<100_000 { unsafe buffer[index] = number }
                return 100_000
            }
            #expect(count == 100_000)
        }
        #expect(unsafe bytes.append(10) { _ in -5 } == -5, "a failure adds nothing")
        #expect(zip(places, places.dropFirst()).allSatisfy { $1 - $0 == 100_000 })
        let all = bytes.taken()
        #expect(all.count == 400_000 && all[100_000] == 1 && all[399_999] == 3)
    }

    @Test("S4 chunks are the whole file", arguments: [1, 999, 4096, 1 << 20, 100_000_000])
    func chunks(size: Int) async throws {
        let bytes = try make("data", size == 1 ? 50 : 2_500_001)
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle())
        var all: [UInt8] = []
        for try await chunk in file.chunks(of: size) {
            #expect(!chunk.isEmpty && chunk.count <= size)
            all += chunk
        }
        #expect(all == bytes)
        all = []
        for try await chunk in file.chunks(of: size, from: 40) { all += chunk }
        #expect(all == Array(bytes[40...]))
        await #expect(throws: FileError.self) { for try await _ in file.chunks(of: 0) {} }
        try await file.close()
    }

    @Test("S4 memory of the caller is filled")
    func intoMemory() async throws {
        let bytes = try make("data", 1_500_000)
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_000_000, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        let count = try await unsafe file.read(into: buffer, at: 100)
        #expect(count == 1_499_900)
        #expect(unsafe buffer.prefix(count).elementsEqual(bytes[100...]))
        try await file.close()
    }

    @Test("S4 short reads, signals and a file system that is not ready are no end of the file")
    func interrupted() async throws {
        let bytes = try make("data", 100_000)
        let calls = ScriptedFileCalls([
            .open: [.value(-Int(EINTR))],
            .read: [
                .short(1), .value(-Int(EINTR)), .short(4096), .value(-Int(EAGAIN)), .value(-Int(EAGAIN)), .short(77),
            ],
        ])
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
        #expect(try await file.read(200_000) == bytes)
        #expect(calls.count(of: .read) > 6)
        try await file.close()
        #expect(calls.openDescriptors == 0)
    }

    @Test("S4 a file system that is never ready is an error")
    func neverReady() async throws {
        _ = try make("data", 10)
        let calls = ScriptedFileCalls(always: [.read: .value(-Int(EAGAIN))])
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
        let error = await #expect(throws: FileError.self) { try await file.read(10) }
        #expect(error?.code == .unavailable && error?.path == folder["data"])
        #expect(calls.count(of: .read) == 100)
        try await file.close()
    }

    @Test("S4 a file system that is slow and makes progress is no error")
    func slowProgress() async throws {
        let bytes = try make("data", 500)
        let script = (0..<150).flatMap { _ in [ScriptedFileCalls.Result.value(-Int(EAGAIN)), .short(1)] }
        let calls = ScriptedFileCalls([.read: script])
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
        #expect(try await file.read(500) == bytes)
        try await file.close()
    }

    @Test("S4 a file that another process gives up is opened then; one that it keeps is an error")
    func leased() async throws {
        let bytes = try make("data", 10)
        let calls = ScriptedFileCalls([.open: [.value(-Int(EAGAIN)), .value(-Int(EAGAIN))]])
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
        #expect(try await file.read(10) == bytes)
        try await file.close()
        let kept = ScriptedFileCalls(always: [.open: .value(-Int(EAGAIN))])
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: kept)
        }
        #expect(error?.code == .unavailable && error?.call == "open")
        #expect(kept.count(of: .open) == 100)
    }

    @Test("S4 a device that fails is named, with what to do")
    func deviceFailure() async throws {
        _ = try make("data", 10)
        let calls = ScriptedFileCalls([.read: [.value(-Int(EIO))]])
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
        let error = await #expect(throws: FileError.self) { try await file.read(10) }
        #expect(error?.code == .deviceFailure && error?.number == EIO && error?.call == "read")
        #expect("\(try #require(error))".contains("Check the device"))
        #expect(try await file.read(10).count == 10, "the file can be used on")
        try await file.close()
    }

    @Test("S4 what is no regular file is refused, and leaves no descriptor")
    func kinds() async throws {
        let calls = ScriptedFileCalls()
        unsafe mkfifo(folder["fifo"], 0o600)
        unsafe symlink("loop", folder["loop"])
        let refused: [(String, FileAccess, FileError.Code)] = [
            (folder.path, .reading, .wrongKind), (folder.path, .writing(), .wrongKind),
            (folder["fifo"], .reading, .wrongKind), (folder["fifo"], .writing(), .wrongKind),
            ("/dev/null", .reading, .wrongKind), ("/dev/full", .writing(), .wrongKind),
            (folder["loop"], .reading, .wrongKind), (folder["none"], .reading, .notFound),
            (folder["none/none"], .writing(), .notFound), ("", .reading, .invalidArgument),
            (folder["a\0b"], .reading, .invalidArgument),
            (folder[String(repeating: "x", count: 300)], .reading, .invalidArgument),
        ]
        for (path, access, code) in refused {
            let error = await #expect(throws: FileError.self, "\(path)") {
                try await QoSFile.open(path, access, throttle: IOThrottle(), calls: calls)
            }
            #expect(error?.code == code, "\(path): \(String(describing: error))")
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test("S4 without descriptors the error says what helps")
    func noDescriptors() async throws {
        _ = try make("data", 1)
        let calls = ScriptedFileCalls([.open: [.value(-Int(EMFILE))]])
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
        }
        #expect(error?.code == .tooManyOpenFiles && error?.description.contains("RLIMIT_NOFILE") == true)
    }

    @Test("S4 a removed file is read on; a truncated one ends")
    func changedMeanwhile() async throws {
        let bytes = try make("data", 10_000)
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle())
        unsafe truncate(folder["data"], 5_000)
        #expect(try await file.read(10_000) == Array(bytes[..<5_000]))
        unsafe unlink(folder["data"])
        #expect(try await file.read(100, at: 4_950) == Array(bytes[4_950..<5_000]))
        try await file.close()
    }

    @Test("S4 a closed file is an error, and closing twice is none")
    func closed() async throws {
        _ = try make("data", 10)
        let calls = ScriptedFileCalls()
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
        try await file.close()
        try await file.close()
        let error = await #expect(throws: FileError.self) { try await file.read(1) }
        #expect(error?.code == .closed)
        #expect(calls.openDescriptors == 0)
    }

    @Test("S4 a file without a reference is closed")
    func lastReference() async throws {
        _ = try make("data", 10)
        let calls = ScriptedFileCalls()
        do {
            let file = try await QoSFile.open(folder["data"], throttle: IOThrottle(), calls: calls)
            #expect(calls.openDescriptors == 1)
            _ = try await file.read(1)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test("S4 negative counts and offsets are refused")
    func arguments() async throws {
        _ = try make("data", 10)
        let file = try await QoSFile.open(folder["data"], throttle: IOThrottle())
        for (count, offset) in [(-1, 0), (1, -1), (1, Int64.max)] as [(Int, Int64)] {
            let error = await #expect(throws: FileError.self) { try await file.read(count, at: offset) }
            #expect(error?.code == .invalidArgument)
        }
        try await file.close()
    }

    @Test("S4 a cancelled read ends between two pieces, with CancellationError")
    func cancellation() async throws {
        _ = try make("data", 3_000_000)
        let throttle = IOThrottle()
        let file = try await QoSFile.open(folder["data"], throttle: throttle)
        throttle.setLimits(bytesPerSecond: 0, operationsPerSecond: nil, for: .default)
        try await withScheduler { scheduler in
            let task = scheduler.startTask(at: .default) { try await file.read(3_000_000) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await #expect(throws: CancellationError.self) {
                try await scheduler.startTask(at: .default) {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    _ = try await file.read(1)
                }.value
            }
        }
        try await file.close()
    }
}
