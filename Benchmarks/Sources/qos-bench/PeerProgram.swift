import BenchCore
import CBenchShims
import FoundationEssentials
import Glibc

/// The programs of the measured processes.
struct PeerProgram {
    let path: String
    let foundationPath: String

    /// Those that were built together with this program.
    static func besideThisOne() throws -> PeerProgram {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let path = folder + "/qos-bench-peer"
        let foundationPath = folder + "/qos-bench-foundation"
        for path in [path, foundationPath] {
            guard unsafe access(path, X_OK) == 0 else { throw PeerFailure.missing(path: path) }
        }
        return PeerProgram(path: path, foundationPath: foundationPath)
    }

    /// Runs one case once and waits for the end.
    func run(_ series: Series, benchmark: String, isUnprivileged: Bool) throws(PeerFailure) -> PeerRun {
        var arguments = [
            series.peer == .foundation ? foundationPath : path,
            series.peer.rawValue, benchmark, series.caseName.description, "\(series.seconds)",
        ]
        if isUnprivileged { arguments.append("unprivileged") }
        let child = try ChildProcess(arguments: arguments, limit: series.seconds * 10 + 60)
        let end = try child.waitForEnd()
        guard end.status == 0 else { throw .failed(status: end.status, output: end.output) }
        let lines = end.output.split(separator: "\n")
        guard let line = lines.last,
            let values = try? JSONDecoder().decode([String: Double].self, from: Data(line.utf8))
        else { throw .unreadable(output: end.output) }
        return PeerRun(figures: RawFigures(values), processorSeconds: end.processorSeconds, endedAt: end.time)
    }
}

/// What one run of a peer gave.
struct PeerRun {
    var figures: RawFigures
    let processorSeconds: Double
    /// Monotonic nanoseconds at which the process had ended.
    let endedAt: UInt64
}

/// Why a peer gave nothing.
enum PeerFailure: Error, CustomStringConvertible {
    case missing(path: String)
    case notStarted(error: Int32)
    case tooLong(seconds: Double)
    case failed(status: Int32, output: String)
    case unreadable(output: String)

    var description: String {
        switch self {
        case .missing(let path): "\(path) is missing: build the whole package of the benchmarks"
        case .notStarted(let error): "the peer could not be started: error \(error)"
        case .tooLong(let seconds): "the peer did not end within \(Int(seconds)) s and was killed"
        case .failed(let status, let output): "the peer ended with wait status \(status): \(output)"
        case .unreadable(let output): "the peer printed no figures: \(output)"
        }
    }
}
