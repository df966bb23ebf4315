import Foundation
import Synchronization

/// The workloads of the service: a backup, a sync and a pass of the index.
final class HostedWork: BackgroundWork {
    /// A part of the answer of `/workloads`.
    private struct Answer: Decodable {
        struct Item: Decodable {
            let id: Int
            let label: String?
            let state: String
            let finishedRuns: Int
            let failedRuns: Int
        }

        let items: [Item]
    }

    private let port: Int
    private let token: String
    /// The part of each item, by its label.
    private let parts: [String: WorkPart]
    /// The runs that each item had ended before the last action, by label.
    private let runs = Mutex<[String: Int]>([:])

    /// The work of a service that hosts the backup of a folder and a sync.
    init(_ service: Service, token: String, folder: String) {
        port = service.port
        self.token = token
        parts = ["rescan": .indexing, "backup of \(folder)": .backup, "sync from time to time": .sync]
    }

    /// Brings everything to the state of the corpus, and pauses the workloads.
    func prepare() throws {
        try wait {
            let items = try self.items()
            return Self.isIdle(items) && Set(items.compactMap(\.label)).isSuperset(of: self.parts.keys)
        }
        try act("run")
        try wait { try self.progress().isOver }
        try act("pause")
    }

    func begin() throws {
        try act("resume")
        try act("run")
    }

    func progress() throws -> WorkProgress {
        let (items, runs) = (try items(), runs.withLock { $0 })
        for item in items where item.failedRuns > 0 || item.state == "dead" {
            throw BenchPlace.Failure(description: "a run of \(item.label ?? "?") failed")
        }
        let ended = items.filter { item in runs[item.label ?? ""].map { item.finishedRuns > $0 } ?? false }
        let done = Set(ended.compactMap { parts[$0.label ?? ""] })
        return WorkProgress(done: done, isOver: done.count == parts.count && Self.isIdle(items))
    }

    /// Does something to each of the items, and notes the runs that they have ended.
    private func act(_ action: String) throws {
        let client = try Client(port: port)
        for item in try items() {
            guard let label = item.label, parts[label] != nil else { continue }
            runs.withLock { $0[label] = item.finishedRuns }
            try client.post("/workloads/\(item.id)/\(action)", token: token)
        }
    }

    /// Whether nothing runs or waits for its turn.
    private static func isIdle(_ items: [Answer.Item]) -> Bool {
        items.allSatisfy { ["scheduled", "finished", "cancelled"].contains($0.state) }
    }

    private func items() throws -> [Answer.Item] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: Data(try Client(port: port).get("/workloads"))).items
    }

    private func wait(until condition: () throws -> Bool) throws {
        while try !condition() { usleep(100_000) }
    }
}
