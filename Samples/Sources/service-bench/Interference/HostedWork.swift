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
    private let labels: Set<String>
    /// The runs that each item had ended before the last action, by label.
    private let runs = Mutex<[String: Int]>([:])

    /// The work of a service that hosts the backup of a folder and a sync.
    init(_ service: Service, token: String, folder: String) {
        port = service.port
        self.token = token
        labels = ["rescan", "backup of \(folder)", "sync from time to time"]
    }

    func settle() throws {
        try wait { try self.isIdle() && Set(try self.items().map(\.label)).isSuperset(of: self.labels) }
        try act("run")
        try wait(until: isOver)
    }

    func hold() throws {
        try act("pause")
    }

    func begin() throws {
        try act("resume")
        try act("run")
    }

    func isOver() throws -> Bool {
        let (items, runs) = (try items(), runs.withLock { $0 })
        for item in items where item.failedRuns > 0 || item.state == "dead" {
            throw BenchPlace.Failure(description: "a run of \(item.label ?? "?") failed")
        }
        let done = items.filter { item in runs[item.label ?? ""].map { item.finishedRuns > $0 } ?? false }
        return try done.count == labels.count && isIdle()
    }

    /// Does something to each of the items, and notes the runs that they have ended.
    private func act(_ action: String) throws {
        let client = try Client(port: port)
        for item in try items() {
            guard let label = item.label, labels.contains(label) else { continue }
            runs.withLock { $0[label] = item.finishedRuns }
            try client.post("/workloads/\(item.id)/\(action)", token: token)
        }
    }

    /// Whether nothing runs or waits for its turn.
    private func isIdle() throws -> Bool {
        try items().allSatisfy { ["scheduled", "finished", "cancelled"].contains($0.state) }
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
