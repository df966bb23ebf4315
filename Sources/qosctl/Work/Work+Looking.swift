#if SQLite
import ArgumentParser
import QoSSQLiteStore

/// A state by its name.
struct StateArgument: ExpressibleByArgument {
    let state: WorkloadState

    init?(argument: String) {
        guard let state = WorkloadState(rawValue: argument) else { return nil }
        self.state = state
    }

    static var allValueStrings: [String] { WorkloadState.allCases.map(\.rawValue) }
}

extension Work {
    /// `qosctl work list`: items in the order of their numbers.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists items in the order of their numbers.")

        @OptionGroup var options: StoreOptions

        @Option(help: "Only items in this state; can be repeated.")
        var state: [StateArgument] = []

        @Option(help: "Only items of this workload.")
        var workload: String?

        @Option(help: "Only items with higher numbers than this one.")
        var after: ItemArgument?

        @Option(help: "The largest number of items.")
        var limit = 100

        func validate() throws {
            if limit < 1 { throw ValidationError("a limit of \(limit): use 1 or more") }
        }

        func run() async throws {
            let query = WorkloadQuery(
                states: Set(state.map(\.state)), name: workload.map { WorkloadName($0) }, after: after?.id, limit: limit
            )
            try await options.write(query)
        }
    }

    /// `qosctl work dead`: the items whose attempts are used up.
    struct Dead: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the dead letters: items whose attempts are used up. 'run' revives one.")

        @OptionGroup var options: StoreOptions

        @Option(help: "The largest number of items.")
        var limit = 100

        func run() async throws {
            let query = WorkloadQuery(states: [.dead], limit: max(1, limit))
            try await options.write(query)
        }
    }

    /// `qosctl work show`: all that is known of an item.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows all that is known of an item.")

        @OptionGroup var options: StoreOptions

        @Argument(help: "The number of the item.")
        var item: ItemArgument

        func run() async throws {
            let store = try options.open()
            guard let record = try await store.record(of: item.id) else {
                throw WorkloadStoreError.unknownItem(item.id)
            }
            let report = WorkReport(
                record, pauses: try await store.pauses(), lost: WorkReport.lostProcesses(of: [record]),
                history: try await store.attempts(of: item.id))
            try options.write(report, report.lines)
        }
    }
}
#endif
