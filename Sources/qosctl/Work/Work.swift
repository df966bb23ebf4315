import ArgumentParser

#if SQLite
/// `qosctl work`: looks at the workloads of a store, and controls them.
struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks at the items of a store of workloads, and controls them.",
        discussion: """
            It works on the store's file, beside the processes that use it. Hosts that run act at once; others act at \
            their next start.
            """,
        subcommands: [
            List.self, Show.self, Dead.self, RunNow.self, Cancel.self, Raise.self, Pause.self, Resume.self,
        ])
}
#else
/// `qosctl work`, in a build without the store.
struct Work: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Looks at stored work; this build has no store.")

    @Argument(parsing: .captureForPassthrough, help: .hidden)
    var arguments: [String] = []

    func run() throws {
        throw ValidationError("this build has no store: build it with 'swift build --traits SQLite'")
    }
}
#endif
