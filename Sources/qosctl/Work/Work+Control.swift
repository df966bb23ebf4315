#if SQLite
import ArgumentParser
import QoSCore
import QoSSQLiteStore

extension Work {
    /// `qosctl work run`: makes an item due.
    struct RunNow: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Makes an item due now, whatever its schedule and conditions. Revives a dead item.")

        @OptionGroup var options: StoreOptions
        @Argument(help: "The number of the item.")
        var item: ItemArgument

        func run() async throws {
            let store = try options.open()
            try await store.runNow(item.id, at: .current)
            try await options.write(item.id, of: store)
        }
    }

    /// `qosctl work cancel`: ends an item for good.
    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancels an item. A running one is asked to end.")

        @OptionGroup var options: StoreOptions
        @Argument(help: "The number of the item.")
        var item: ItemArgument
        @Option(help: "The reason, for people.")
        var because = "cancelled by an operator"

        func run() async throws {
            let store = try options.open()
            try await store.cancel(item.id, because: because, at: .current)
            try await options.write(item.id, of: store)
        }
    }

    /// `qosctl work raise`: raises an item and what stands in its way.
    struct Raise: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Raises an item to a class, and all items that it waits for.")

        @OptionGroup var options: StoreOptions
        @Argument(help: "The number of the item.")
        var item: ItemArgument
        @Option(help: "The class: background, utility, default, userInitiated or userInteractive.")
        var to: String

        func run() async throws {
            guard let qosClass = QoSClass.allCases.first(where: { "\($0)" == to }) else {
                let names = QoSClass.allCases.map { "\($0)" }.joined(separator: ", ")
                throw ValidationError("'\(to)' is no class: use one of \(names)")
            }
            let store = try options.open()
            try await store.raise(item.id, to: QoSLevel(qosClass))
            try await options.write(item.id, of: store)
        }
    }

    /// `qosctl work pause`: lets no item of a workload start.
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pauses a workload: no item of it starts, and running ones are asked to stop for now.")

        @OptionGroup var options: StoreOptions
        @Argument(help: "The name of the workload.")
        var workload: String
        @Option(help: "The reason, for people.")
        var because = "paused by an operator"

        func run() async throws {
            let store = try options.open()
            try await store.setPaused(WorkloadName(workload), because: because, at: .current)
            try options.write(["paused": workload, "reason": because], ["\(workload): paused, \(because)"])
        }
    }

    /// `qosctl work resume`: ends a pause.
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ends the pause of a workload.")

        @OptionGroup var options: StoreOptions
        @Argument(help: "The name of the workload.")
        var workload: String

        func run() async throws {
            let store = try options.open()
            guard try await store.pauses()[WorkloadName(workload)] != nil else {
                throw ValidationError("'\(workload)' is not paused in \(options.store)")
            }
            try await store.setPaused(WorkloadName(workload), because: nil, at: .current)
            try options.write(["resumed": workload], ["\(workload): resumed"])
        }
    }
}
#endif
