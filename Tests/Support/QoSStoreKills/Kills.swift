import Foundation
import Glibc

#if SQLite
import QoSSQLiteStore

/// Kills processes that share a store, at random moments and at named points, and then counts what is missing.
///
///     QoSStoreKills FOLDER COUNT SEED      kills COUNT processes in all, two at work at any time
///     QoSStoreKills worker …               one of these processes
@main
struct Kills {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "worker" {
                try await work(arguments)
            } else if arguments.count == 3, let count = Int(arguments[1]), let seed = UInt64(arguments[2]) {
                exit(try await Kills(folder: arguments[0], count: count, seed: seed).run() ? 0 : 1)
            } else {
                print("usage: QoSStoreKills FOLDER COUNT SEED")
                exit(64)
            }
        } catch {
            print("error: \(error)")
            exit(1)
        }
    }

    private static func work(_ arguments: [String]) async throws {
        let point = arguments.count > 2 ? arguments[2] : nil
        let killer = Killer(point, after: arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1)
        let worker = Worker(
            store: "\(arguments[1])/work.sqlite", journal: try Journal("\(arguments[1])/journal"), killer: killer,
            drains: point == "drain")
        try await worker.run()
    }

    let folder: String
    let count: Int
    let seed: UInt64

    /// The named points: each moment of the transactions of each call, and those of the workload.
    static var points: [String] {
        let calls = ["insert", "exchange", "save", "renew", "reclaim", "raise"]
        let moments = SQLiteStoreConfiguration.FailPoint.Moment.allCases.map(\.rawValue)
        return calls.flatMap { call in moments.map { "\(call).\($0)" } } + Killer.points
            + ["create.written", "create.committed"]
    }

    private func start(_ more: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["worker", folder] + more
        try process.run()
        return process
    }

    /// - Returns: whether nothing is missing.
    func run() async throws -> Bool {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var random = SplitMix(state: seed)
        var (atPoints, atRandom) = (0, 0)
        var reached: [String: Int] = [:]
        var companion: Process?
        for round in 0..<count {
            // The points of the making of the file come first: the second process finds what the first one left.
            let points = Self.points
            let isCreation = round < 2
            let point: String? =
                isCreation
                ? points[points.count - 2 + round]
                : round % 2 == 0 ? points[(round / 2) % (points.count - 2)] : nil
            let time = 0.05 + 0.35 * random.unit()
            // A renewal comes after a third of the lease, a reclaim after all of it.
            let isReclaim = point?.hasPrefix("reclaim.") ?? false
            let isSlow = isReclaim || point?.hasPrefix("renew.") ?? false
            if isReclaim {
                // The lease of a process that dies at work, and no other process that could take it back.
                if let other = companion {
                    kill(other.processIdentifier, SIGKILL)
                    other.waitUntilExit()
                    companion = nil
                    atRandom += 1
                }
                let victim = try start(["run.worked", "1"])
                victim.waitUntilExit()
                atPoints += 1
                reached["run.worked", default: 0] += 1
            }
            let process = try start(
                point.map { [$0, isCreation || isSlow ? "1" : "\(1 + Int(random.unit() * 3))"] } ?? [])
            if point == nil {
                try await Task.sleep(for: .seconds(time))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            } else {
                // A point that is not reached in time is a random kill.
                let end = Date().addingTimeInterval(isSlow ? 4 : 1.5)
                while process.isRunning, Date() < end { try await Task.sleep(for: .milliseconds(5)) }
            }
            let wasRunning = process.isRunning
            if wasRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            guard process.terminationReason == .uncaughtSignal else {
                throw KillsError("a process ended by itself, with status \(process.terminationStatus)")
            }
            if let point, !wasRunning {
                atPoints += 1
                reached[point, default: 0] += 1
            } else {
                atRandom += 1
            }
            // A second process is at work most of the time, and is killed at times.
            if round % 4 == 3 {
                if let companion {
                    kill(companion.processIdentifier, SIGKILL)
                    companion.waitUntilExit()
                    atRandom += 1
                }
                companion = try start([])
            }
        }
        if let companion {
            kill(companion.processIdentifier, SIGKILL)
            companion.waitUntilExit()
            atRandom += 1
        }
        let last = try start(["drain"])
        last.waitUntilExit()
        guard last.terminationStatus == 0 else { throw KillsError("the last process failed") }
        return try await report(atPoints, atRandom, reached)
    }

    private func report(_ atPoints: Int, _ atRandom: Int, _ reached: [String: Int]) async throws -> Bool {
        let store = try SQLiteStore(at: "\(folder)/work.sqlite")
        var finished: Set<Int64> = []
        var after: WorkloadItemID?
        while true {
            let page = try await store.records(matching: WorkloadQuery(states: [.finished], after: after))
            guard let last = page.last else { break }
            finished.formUnion(page.map(\.id.rawValue))
            after = last.id
        }
        let findings = Findings(try Journal.lines("\(folder)/journal"), finished: finished)
        print("kills=\(atPoints + atRandom)", "atPoints=\(atPoints)", "atRandom=\(atRandom)", separator: "\n")
        print("points=\(reached.count) of \(Self.points.count)")
        let missing = Self.points.filter { reached[$0] == nil }
        print("killsOfAPointAtLeast=\(Self.points.map { reached[$0] ?? 0 }.min() ?? 0)")
        if !missing.isEmpty { print("notReached=\(missing.joined(separator: ","))") }
        print(findings.lines.joined(separator: "\n"))
        return findings.isClean
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct SplitMix {
    var state: UInt64

    mutating func unit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
    }
}
#else
@main
struct Kills {
    static func main() {
        print("built without the store: use swift build --traits SQLite")
        exit(64)
    }
}
#endif
