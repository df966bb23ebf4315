// README:
import Foundation
import QoSOperations

func tour(of scheduler: QoSScheduler) async throws {
    let queue = scheduler.makeQueue("store", level: .utility)
    // Promoted while a high item waits behind it.
    queue.async { print("compacting") }
    let rows = try await queue.run { [1, 2, 3] }

    let operations = QoSOperationQueue(scheduler: scheduler, level: .background)
    let fetch = operations.addOperation { Data("page".utf8) }
    let show = QoSOperation(level: .userInitiated) { try await print(fetch.value.count, rows) }
    // `fetch` is userInitiated from now on.
    try show.addDependency(fetch)
    try operations.add(show)
    try await show.value

    // Its holder is raised while higher threads wait.
    let cache = QoSMutex([String: Data]())
    // Another worker stands in.
    let file = try await QoS.withBlocking { try Data(contentsOf: URL(filePath: "/etc/hostname")) }
    cache.withLock { $0["hostname"] = file }
}
// :README

@main
struct OperationsExample {
    static func main() {
        QoSProcess.run {
            guard let scheduler = QoSProcess.scheduler else { return }
            try await tour(of: scheduler)
        }
    }
}
