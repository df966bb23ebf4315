import BenchCore
import CBenchShims
import Glibc
import QoSCore
import QoSFiles
import QoSRuntime

/// B9: 500 random direct reads of 4 KiB per second, beside four loops of background I/O that always have work.
///
/// All I/O passes the page cache, so the disk is measured and not the memory. `QoSFile` does so by itself.
struct DiskForeground: Workload {
    enum Background: String {
        /// None.
        case alone
        /// Plain calls at default.
        case free
        /// Plain calls at background, with the I/O priority of the class.
        case plain
        /// Plain calls in a process of its own, under `ionice -c2 -n7`.
        case lowest
        /// Plain calls in a process of its own, under `ionice -c3`.
        case idle
        /// Direct calls that ask `IOThrottle`, at background.
        case polite
        /// `QoSFile` at background.
        case file
    }

    let background: Background
    let foreground: QoSClass
    let mix: DiskMix

    init?(_ caseName: CaseName) {
        guard let background = Background(rawValue: caseName.name) else { return nil }
        self.background = background
        foreground = caseName["fg"] == 33 ? .userInteractive : .userInitiated
        mix = DiskMix(caseName)
    }

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let files = try DiskFiles(background: isInside ? DiskMix.loops : 0, hasForeground: true)
        defer { files.remove() }
        let (isOver, bytes) = (Flag(), Counter())
        let qosClass: QoSClass = background == .free ? .default : .background
        let low = (0..<(isInside ? DiskMix.loops : 0)).map { number in
            stage.detached(qosClass) { () -> String? in
                do {
                    try await work(files.path(number), writes: mix.writes(number), isOver, bytes)
                    return nil
                } catch {
                    return "\(error)"
                }
            }
        }
        let process = try await startProcess(on: stage, seconds: seconds)
        await stage.outside.sleep(seconds: DiskLoad.lead)
        let (before, begin) = (bytes.count, bench_now())
        let latencies = try await read(files.foreground, on: stage, seconds: seconds)
        var rate = Double(bytes.count - before) / 1e6 / (Double(bench_now() - begin) / 1e9)
        isOver.set()
        for task in low { if let problem = await task.value { throw DiskFailure(problem, 0) } }
        if let process { rate = try process.finish() }
        var figures = RawFigures(["background_mb_per_second": rate])
        figures.addLatencies("read", latencies.values)
        return figures
    }

    /// Whether the background work runs in this process.
    private var isInside: Bool { background != .alone && ioniceArguments == nil }

    private var ioniceArguments: [String]? {
        switch background {
        case .lowest: ["-c2", "-n7"]
        case .idle: ["-c3"]
        default: nil
        }
    }

    /// Starts the process from the thread outside: a program inherits nice and I/O priority of the thread that starts it.
    private func startProcess(on stage: Stage, seconds: Double) async throws -> DiskLoadProcess? {
        guard let arguments = ioniceArguments else { return nil }
        return try await withCheckedContinuation { continuation in
            stage.outside.perform { [mix] in
                continuation.resume(
                    returning: Result { try DiskLoadProcess(ionice: arguments, mix: mix, seconds: seconds) })
            }
        }.get()
    }

    // MARK: Foreground

    private func read(_ path: String, on stage: Stage, seconds: Double) async throws -> Latencies {
        let descriptor = unsafe bench_open_direct(path, 0)
        guard descriptor >= 0 else { throw DiskFailure("open \(path)", -descriptor) }
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
                    let page = (number &* 2_654_435_761) % (DiskFiles.foregroundSize / 4096)
                    stage.detached(foreground) {
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
        guard failed.count == 0 else { throw DiskFailure("\(failed.count) reads failed", 0) }
        return latencies
    }

    private static func readPage(_ descriptor: Int32, _ page: Int) -> Int {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 4096) { buffer in
            unsafe pread(descriptor, buffer.baseAddress, 4096, off_t(page * 4096))
        }
    }

    // MARK: Background

    private func work(_ path: String, writes: Bool, _ isOver: Flag, _ bytes: Counter) async throws {
        if background == .file {
            try await workWithFile(path, writes: writes, isOver, bytes)
        } else {
            let file = try DirectFile(path, writes: writes, size: mix.request)
            try await workDirectly(file, writes: writes, isOver, bytes)
        }
    }

    private func workWithFile(_ path: String, writes: Bool, _ isOver: Flag, _ bytes: Counter) async throws {
        let file = try await QoSFile.open(path, writes ? .updating() : .reading)
        let data = [UInt8](repeating: 7, count: mix.request)
        var place = 0
        while !isOver.isSet {
            if writes {
                try await file.write(data, at: Int64(place))
            } else {
                _ = try await file.read(mix.request, at: Int64(place))
            }
            bytes.add(mix.request)
            place = (place + mix.request) % DiskFiles.backgroundSize
            if writes, let every = mix.syncEvery, place.isMultiple(of: every) {
                try await file.synchronize(dataOnly: true)
            }
        }
        try await file.close()
    }

    private func workDirectly(_ file: DirectFile, writes: Bool, _ isOver: Flag, _ bytes: Counter) async throws {
        var place = 0
        while !isOver.isSet {
            let wanted = mix.request - place % mix.request
            let count = try await piece(of: wanted) { [place] granted in
                writes ? file.write(at: place, granted) : file.read(at: place, granted)
            }
            guard count > 0 else { throw DiskFailure("direct I/O", errno) }
            bytes.add(count)
            place = (place + count) % DiskFiles.backgroundSize
            if writes, let every = mix.syncEvery, place.isMultiple(of: every) {
                _ = try await piece(of: 0) { _ in Int(fdatasync(file.descriptor)) }
            }
        }
    }

    private func piece(of bytes: Int, _ body: @Sendable @escaping (Int) -> Int) async throws -> Int {
        if background == .polite { return try await IOThrottle.process.perform(bytes: bytes) { body($0) } }
        return await QoS.withBlocking { body(bytes) }
    }
}
