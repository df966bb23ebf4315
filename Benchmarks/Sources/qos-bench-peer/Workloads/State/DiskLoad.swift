import BenchCore
import CBenchShims
import Glibc

/// The background work of B9 as a process of its own: four threads with plain calls, as `ionice` starts them.
///
/// It prints a line when its files are there, and its throughput at the end.
struct DiskLoad: Workload {
    /// The time before the measurement. Seconds.
    static let lead = 0.5

    let mix: DiskMix

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let files = try DiskFiles(background: DiskMix.loops, hasForeground: false)
        defer { files.remove() }
        let (isOver, bytes, ended) = (Flag(), Counter(), Counter())
        let threads = (0..<DiskMix.loops).map { _ in OutsideThread(isRealTime: false) }
        let loops = try (0..<DiskMix.loops).map { number in
            (try DirectFile(files.path(number), writes: mix.writes(number), size: mix.request), mix.writes(number))
        }
        Output.line("ready")
        for (thread, (file, writes)) in zip(threads, loops) {
            thread.perform { [mix] in
                Self.work(file, mix, writes: writes, isOver, bytes)
                ended.add()
            }
        }
        await stage.outside.sleep(seconds: Self.lead)
        let (before, begin) = (bytes.count, bench_now())
        await stage.outside.sleep(seconds: seconds)
        let rate = Double(bytes.count - before) / 1e6 / (Double(bench_now() - begin) / 1e9)
        isOver.set()
        while ended.count < DiskMix.loops { await stage.outside.sleep(seconds: 0.001) }
        Output.line("\(rate)")
        return RawFigures(["background_mb_per_second": rate])
    }

    private static func work(_ file: DirectFile, _ mix: DiskMix, writes: Bool, _ isOver: Flag, _ bytes: Counter) {
        var place = 0
        while !isOver.isSet {
            let count = writes ? file.write(at: place, mix.request) : file.read(at: place, mix.request)
            guard count == mix.request else { PeerMain.fail("B9: plain I/O: error \(errno)", status: 1) }
            bytes.add(count)
            place = (place + count) % DiskFiles.backgroundSize
            if writes, let every = mix.syncEvery, place.isMultiple(of: every) { fdatasync(file.descriptor) }
        }
    }
}
