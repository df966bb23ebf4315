import BenchCore
import CBenchShims

/// The floors that are C: what the kernel charges for a hop without any executor.
enum FloorPrograms {
    /// Runs the program of a case; `nil` when its floor is an executor.
    static func run(_ options: PeerOptions) -> RawFigures? {
        switch (options.benchmark, options.caseName.name) {
        case ("B3", "wake"):
            let gap = UInt64(options.caseName["gap"] * 1000)
            let count = Int(options.seconds * 1e9 / Double(gap + 50_000))
            return unsafe latencies("wake", count) { unsafe bench_floor_wake(gap, $0, $1) }
        case ("B2", "two-hops"):
            let spinners = Int32(options.caseName["spinners"])
            return unsafe latencies("wake", Int(options.seconds * 1000)) {
                unsafe bench_floor_two_hops(1_000_000, spinners, $0, $1)
            }
        default:
            return nil
        }
    }

    private static func latencies(
        _ name: String, _ count: Int, _ program: (UnsafeMutablePointer<UInt64>, UInt32) -> Int32
    ) -> RawFigures {
        var values = [UInt64](repeating: 0, count: count)
        let error = unsafe values.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return Int32(0) }
            return unsafe program(base, UInt32(buffer.count))
        }
        guard error == 0 else { PeerMain.fail("the floor program failed: error \(-error)", status: 1) }
        var figures = RawFigures()
        figures.addLatencies(name, values.map { Double($0) })
        return figures
    }
}
