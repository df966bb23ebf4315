import BenchCore
import CBenchShims
import Glibc
import QoSCore
import QoSFiles
import QoSRuntime

/// B9: 500 random direct reads of 4 KiB per second at userInitiated, beside two readers and two writers that always have
/// work. The writers have their data on the disk every 16 MiB.
struct DiskForeground: Workload {
    enum Background: String {
        /// None.
        case alone
        /// Plain calls at default.
        case free
        /// Plain calls at background, with the idle I/O priority.
        case idle
        /// `QoSFile` at background.
        case polite
    }

    let background: Background

    private static let chunk = 1 << 20
    private static let fileSize = 256 << 20
    private static let syncEvery = 16 << 20

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let folder = "/var/tmp/qos-bench-\(getpid())"
        guard unsafe mkdir(folder, 0o700) == 0 else { throw Failure("mkdir \(folder)", errno) }
        defer {
            for name in ["f", "0", "1", "2", "3"] { _ = unsafe unlink("\(folder)/\(name)") }
            _ = unsafe rmdir(folder)
        }
        for name in ["f", "0", "1"] { try Self.make("\(folder)/\(name)") }
        let (isOver, bytes) = (Flag(), Counter())
        let qosClass: QoSClass = background == .free ? .default : .background
        let low = (0..<(background == .alone ? 0 : 4)).map { number in
            stage.detached(qosClass) { () -> String? in
                do {
                    try await work("\(folder)/\(number)", writes: number >= 2, isOver, bytes)
                    return nil
                } catch {
                    return "\(error)"
                }
            }
        }
        await stage.outside.sleep(seconds: 0.5)
        let (before, begin) = (bytes.count, bench_now())
        let latencies = try await read("\(folder)/f", on: stage, seconds: seconds)
        let rate = Double(bytes.count - before) / 1e6 / (Double(bench_now() - begin) / 1e9)
        isOver.set()
        for task in low { if let problem = await task.value { throw Failure(problem, 0) } }
        var figures = RawFigures(["background_mb_per_second": rate])
        figures.addLatencies("read", latencies.values)
        return figures
    }

    // MARK: Foreground

    private func read(_ path: String, on stage: Stage, seconds: Double) async throws -> Latencies {
        let descriptor = unsafe bench_open_direct(path)
        guard descriptor >= 0 else { throw Failure("open \(path)", -descriptor) }
        defer { close(descriptor) }
        let count = Int(seconds * 500)
        let latencies = Latencies(capacity: count)
        let (done, failed) = (Counter(), Counter())
        await withCheckedContinuation { continuation in
            stage.outside.perform {
                let start = bench_now() + 10_000_000
                for number in 0..<count {
                    let intended = start + UInt64(number) * 2_000_000
                    bench_sleep_until(intended)
                    let page = (number &* 2_654_435_761) % (Self.fileSize / 4096)
                    stage.detached(.userInitiated) {
                        let size = try? await IOThrottle.process.perform(bytes: 4096) { _ in
                            Self.readPage(descriptor, page)
                        }
                        latencies.add(Double(bench_now() - intended))
                        if size != 4096 { failed.add() }
                        if done.add() == count { continuation.resume() }
                    }
                }
            }
        }
        guard failed.count == 0 else { throw Failure("\(failed.count) reads failed", 0) }
        return latencies
    }

    private static func readPage(_ descriptor: Int32, _ page: Int) -> Int {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 4096) { buffer in
            unsafe pread(descriptor, buffer.baseAddress, 4096, off_t(page * 4096))
        }
    }

    // MARK: Background

    private func work(_ path: String, writes: Bool, _ isOver: Flag, _ bytes: Counter) async throws {
        if background == .polite {
            try await writes ? writePolitely(path, isOver, bytes) : readPolitely(path, isOver, bytes)
        } else {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Failure("open \(path)", errno) }
            defer { close(descriptor) }
            try await workPlainly(descriptor, writes: writes, isOver, bytes)
        }
    }

    private func readPolitely(_ path: String, _ isOver: Flag, _ bytes: Counter) async throws {
        let file = try await QoSFile.open(path)
        while !isOver.isSet {
            for try await chunk in file.chunks(of: Self.chunk) {
                bytes.add(chunk.count)
                if isOver.isSet { break }
            }
        }
        try await file.close()
    }

    private func writePolitely(_ path: String, _ isOver: Flag, _ bytes: Counter) async throws {
        let file = try await QoSFile.open(path, .updating(.ifMissing))
        let data = [UInt8](repeating: 7, count: Self.chunk)
        var place = 0
        while !isOver.isSet {
            try await file.write(data, at: Int64(place))
            place = (place + Self.chunk) % Self.fileSize
            if place % Self.syncEvery == 0 { try await file.synchronize(dataOnly: true) }
            bytes.add(Self.chunk)
        }
        try await file.close()
    }

    private func workPlainly(_ descriptor: Int32, writes: Bool, _ isOver: Flag, _ bytes: Counter) async throws {
        var place = 0
        while !isOver.isSet {
            let offset = off_t(place)
            let count = await QoS.withBlocking { () -> Int in
                var data = [UInt8](repeating: 7, count: Self.chunk)
                guard writes else {
                    let count = unsafe pread(descriptor, &data, Self.chunk, offset)
                    // Read from the disk each time, like the others.
                    posix_fadvise(descriptor, offset, off_t(Self.chunk), POSIX_FADV_DONTNEED)
                    return count
                }
                return unsafe pwrite(descriptor, data, Self.chunk, offset)
            }
            guard count == Self.chunk else { throw Failure("plain I/O", errno) }
            place = (place + Self.chunk) % Self.fileSize
            if writes, place % Self.syncEvery == 0 { _ = await QoS.withBlocking { fdatasync(descriptor) } }
            bytes.add(count)
        }
    }

    // MARK: Files

    private static func make(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("open \(path)", errno) }
        defer { close(descriptor) }
        let data = [UInt8](repeating: 1, count: chunk)
        for place in stride(from: 0, to: fileSize, by: chunk) {
            guard unsafe pwrite(descriptor, data, chunk, off_t(place)) == chunk else { throw Failure("write", errno) }
        }
        fsync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ text: String, _ code: Int32) { description = code == 0 ? text : "\(text): error \(code)" }
    }
}
