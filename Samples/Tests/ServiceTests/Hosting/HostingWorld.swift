import Backup
import Foundation
import SampleTestSupport

/// A folder that the service backs up and syncs, with all that it needs.
final class HostingWorld {
    static let passphrase = "correct horse"

    let world: IndexWorld

    /// The folder of the service; it is saved, and it is side B of the sync.
    var served: TemporaryFolder { world.folder }
    var state: TemporaryFolder { world.state }
    var other: String { state["other"] }
    var repository: String { state["repository"] }

    init() throws {
        world = try IndexWorld()
        for name in ["other", "restored"] { try state.makeFolder(name) }
        try state.write("passphrase", Self.passphrase + "\n")
        _ = try Repository.create(at: repository, passphrase: Array(Self.passphrase.utf8), cost: .none)
    }

    var backup: [String] {
        [
            "--backup-repository", repository, "--backup-password-file", state["passphrase"],
            "--restore-folder", state["restored"],
        ]
    }

    var sync: [String] {
        ["--sync-a", other, "--sync-b", served.path, "--sync-archive", state["archive"]]
    }

    func make(_ more: [String], environment: [String: String] = [:]) throws -> ServiceProcess {
        try ServiceProcess(
            [served.path, "--index-dir", world.directory, "--port", "0"] + more, errors: state["errors"],
            environment: environment)
    }

    func start(_ more: [String]) throws -> ServiceProcess {
        let service = try make(more)
        try service.waitUntilListening()
        return service
    }
}

extension ServiceProcess {
    func post(_ path: String, _ fields: [String: String] = [:]) throws -> HTTPAnswer {
        let token = ["Authorization": "Bearer \(token)"]
        return try HTTPAnswer(port: port, path: path, method: "POST", fields: token.merging(fields) { $1 })
    }

    /// Asks for an item until it has a state; each question waits for its answer.
    @discardableResult
    func item(_ label: String, until isReached: (WorkloadsAnswer.Item) -> Bool) throws -> WorkloadsAnswer.Item {
        while true {
            let items = try get("/workloads").decode(WorkloadsAnswer.self).items
            if let item = items.first(where: { $0.label == label }), isReached(item) { return item }
        }
    }
}

/// What `/snapshots` answers, in part.
struct SnapshotsAnswer: Decodable {
    struct Item: Decodable {
        let id: String
        let folder: String
        let files: Int
        let time: Double
    }

    let snapshots: [Item]
    let problems: [String]
}
