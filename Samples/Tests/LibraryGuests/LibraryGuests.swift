internal import Dispatch
internal import Foundation
internal import GRDB
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import QoSCore
internal import QoSRuntime
internal import Subprocess
internal import SystemPackage

/// What the threads and children have that NIO, GRDB and swift-subprocess make, when their first use is on a worker.
///
///     library-guests pool|preference CLASS
///
/// Each line of the output is `name=what it has`. `start` is the process's own, before anything else.
@main
enum LibraryGuests {
    private static let start = Look.ofCallingThread

    static func main() {
        let (mode, wanted) = (CommandLine.arguments.dropFirst().first, CommandLine.arguments.last)
        guard let qosClass = QoSClass.allCases.first(where: { "\($0)" == wanted }) else { exit(64) }
        say("start", start)
        if mode == "pool" {
            QoSProcess.run {
                guard let scheduler = QoSProcess.scheduler else { return }
                try await use(from: scheduler, qosClass)
            }
        }
        Task.detached {
            let scheduler = try QoSScheduler()
            try await use(from: scheduler, qosClass)
            exit(0)
        }
        dispatchMain()
    }

    /// Lets a worker of the class be the first that uses the libraries.
    private static func use(from scheduler: QoSScheduler, _ qosClass: QoSClass) async throws {
        try await Task(executorPreference: scheduler.executor(for: qosClass)) {
            say("worker", Look.ofCallingThread)
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
            for _ in 0..<2 {
                say("nio", try await group.next().submit { Look.ofCallingThread }.get())
            }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guests-\(getpid())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let database = try DatabasePool(path: folder.appendingPathComponent("data").path)
            try await database.write { try $0.execute(sql: "CREATE TABLE words (word TEXT)") }
            say("grdb-write", try await database.write { _ in Look.ofCallingThread })
            say("grdb-read", try await database.read { _ in Look.ofCallingThread })
            let child = try await run(
                .path("/bin/cat"), arguments: ["/proc/self/status", "/proc/self/stat"], output: .string(limit: 16_384))
            say("subprocess", Look.text(of: child.standardOutput))
        }.value
    }

    private static func say(_ name: String, _ look: String) {
        print("\(name)=\(look)")
        fflush(nil)
    }
}

/// Processors, nice value and policy of a thread or a process, as `/proc` shows them.
enum Look {
    /// Those of the calling thread.
    static var ofCallingThread: String {
        text(
            of: ["status", "stat"].map { name in
                (try? String(contentsOfFile: "/proc/thread-self/\(name)", encoding: .utf8)) ?? ""
            }.joined())
    }

    /// Reads both files, one behind the other.
    static func text(of files: String) -> String {
        let processors = files.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") } ?? "?"
        // Nice and policy are the 19th and 41st field of the second file; the name before, in parentheses, is the second.
        let fields = files[(files.lastIndex(of: ")") ?? files.startIndex)...].split(separator: " ")
        guard fields.count > 39 else { return "?" }
        return "\(processors.replacing("\t", with: " ")) nice \(fields[17]) policy \(fields[39])"
    }
}
