/// All benchmarks, in the order in which they are listed.
///
/// Ids, definitions and targets are those of the project's benchmark plan; `Docs/Benchmarks/Method.md` has them in
/// words.
public enum Catalogue {
    /// The benchmarks.
    public static let all: [Benchmark] = [
        b1, b2, b3, b4, b5, b6, b7, b8, b9, b11, b12, b13, b14, b15, b16, b17, b18, b19,
        quota,
    ]

    /// The benchmark of an id, whatever its case.
    public static func benchmark(_ id: String) -> Benchmark? {
        all.first { $0.id.uppercased() == id.uppercased() }
    }

    /// The peers for whatever has no floor.
    static let executors: [PeerKind] = [.ours, .oursByPreference, .defaultExecutor]

    /// The two ways to use our runtime.
    static let ways: [PeerKind] = [.ours, .oursByPreference]
}
