import BenchCore

/// The background work of B9: four loops, each on a file of its own, from its beginning to its end again and again.
enum DiskMix: Int, Sendable {
    /// Two readers, and two writers that have their data on the disk every 16 MiB.
    case both
    /// Four readers.
    case reads
    /// Four writers.
    case writes
    /// Four writers of 64 KiB that have each piece on the disk before the next one.
    case syncs

    static let loops = 4

    init(_ caseName: CaseName) { self = DiskMix(rawValue: Int(caseName["mix"])) ?? .both }

    func writes(_ number: Int) -> Bool {
        switch self {
        case .both: number >= 2
        case .reads: false
        case .writes, .syncs: true
        }
    }

    /// The size of a request in bytes.
    var request: Int { self == .syncs ? 64 << 10 : 1 << 20 }

    /// The bytes after which a writer waits for the disk; `nil` for never.
    var syncEvery: Int? {
        switch self {
        case .both: 16 << 20
        case .reads, .writes: nil
        case .syncs: 64 << 10
        }
    }
}
