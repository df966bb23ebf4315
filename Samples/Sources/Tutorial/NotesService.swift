import Foundation
import GRDB
import Hummingbird
import Logging
import QoSRuntime
import QoSSQLiteStore
import QoSServiceLifecycle
import QoSWorkloads
import ServiceLifecycle

@main
struct NotesService {
    static func main() {
        // Requests read one database while the host writes another. So they share no lock for SQLite's count of memory.
        _ = SQLiteMemoryStatistics.disable()
        QoSProcess.run { try await serve() }
    }

    private static func serve() async throws {
        guard let scheduler = QoSProcess.scheduler else { return }
        let logger = Logger(label: "notes")
        let folder = ProcessInfo.processInfo.environment["NOTES_FOLDER"] ?? "."
        let notes = try Notes(DatabasePool(path: "\(folder)/notes.sqlite"))
        let store = try SQLiteStore(at: "\(folder)/work.sqlite")

        var configuration = WorkloadHost.Configuration()
        configuration.observer = { event in logger.info("\(event)") }
        let host = try WorkloadHost(
            store: store, scheduler: scheduler, workloads: [Digests(notes: notes)], configuration: configuration)
        let application = Application(
            router: makeRouter(notes: notes, host: host, scheduler: scheduler),
            configuration: .init(address: .hostname("0.0.0.0", port: 8080)),
            logger: logger)

        // The last service is the first to end. So the host still serves the requests that wait for it.
        let group = ServiceGroup(services: [host.service, application], logger: logger)
        try await group.runUntilCancelled()
        try store.close()
    }
}
