import BenchCore
import CBenchShims
import Glibc

/// The programs of the measured processes, in one folder.
struct PeerPrograms {
    let folder: String

    /// Those that were built together with this program.
    static func besideThisOne() throws -> PeerPrograms {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let programs = PeerPrograms(
            folder: own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/"))
        for peer in PeerKind.allCases where peer.requirement == nil && !programs.has(peer) {
            throw PeerFailure.missing(path: programs.path(of: peer))
        }
        return programs
    }

    /// Whether a peer's program has been built.
    func has(_ peer: PeerKind) -> Bool {
        unsafe access(path(of: peer), X_OK) == 0
    }

    private func path(of peer: PeerKind) -> String { "\(folder)/\(peer.program)" }

    /// Runs one case once and waits for the end.
    func run(_ series: Series, benchmark: String, isUnprivileged: Bool) throws(PeerFailure) -> PeerRun {
        var arguments = [
            path(of: series.peer), series.peer.rawValue, benchmark, series.caseName.description, "\(series.seconds)",
        ]
        if isUnprivileged {
            if series.peer.dropsPrivileges {
                arguments.append("unprivileged")
            } else if geteuid() == 0 {
                arguments = Self.withoutPrivileges(series.peer) + arguments
            }
        }
        let quota = series.caseName["quota"]
        let group = quota > 0 ? try ControlGroup(processors: quota, period: series.caseName["period"]) : nil
        defer { group?.remove() }
        if let group { arguments = group.entering(arguments) }
        let child = try ChildProcess(arguments: arguments, limit: series.seconds * 10 + 60)
        let end = try child.waitForEnd()
        guard end.status == 0 else { throw .failed(status: end.status, output: end.output) }
        let lines = end.output.split(separator: "\n")
        guard let line = lines.last, var figures = RawFigures(json: String(line)) else {
            throw .unreadable(output: end.output)
        }
        group?.addThrottling(to: &figures)
        return PeerRun(figures: figures, processorSeconds: end.processorSeconds, endedAt: end.time)
    }

    /// The command that starts a peer's program without privileges.
    ///
    /// Those of other languages may still give their thread for the world outside real time, and ask for nothing else;
    /// Foundation has no such thread, and might make use of it.
    private static func withoutPrivileges(_ peer: PeerKind) -> [String] {
        let kept = PeerKind.others.contains(peer) ? "-all,+sys_nice" : "-all"
        return [
            "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=\(kept)",
            "--ambient-caps=\(kept)", "--bounding-set=\(kept)",
        ]
    }
}

/// The result of one run of a peer.
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
    case noGroup(path: String, error: Int32)

    var description: String {
        switch self {
        case .missing(let path): "\(path) is missing: build the whole package of the benchmarks"
        case .notStarted(let error): "the peer could not be started: error \(error)"
        case .tooLong(let seconds): "the peer did not end within \(Int(seconds)) s and was killed"
        case .failed(let status, let output): "the peer ended with wait status \(status): \(output)"
        case .unreadable(let output): "the peer printed no figures: \(output)"
        case .noGroup(let path, let error):
            "the control group \(path) could not be made: error \(error). Run as root, on a machine whose cpu controller "
                + "is mounted"
        }
    }
}
