import Testing

/// A few rounds of `QoSStress`; `Scripts/stress` runs it for as long as is wanted, and with every move.
@Suite(.serialized) struct StressProgramTests {
    /// Not the moves on work queues and nested locks: a circle of synchronous submissions is not always found.
    private static let moves =
        "task,group,continuation,yield,sleep,actor,serial-actor,delayed,far,timer,suspend,async-mutex,semaphore,mutex,"
        + "blocking,hidden-blocking,checkpoint,width,cancel,raise,thread,operation"

    @Test(
        "random operations on several schedulers all end once and are released, by preference and process-wide",
        .timeLimit(.minutes(3)), arguments: [[], ["--process"]])
    func rounds(mode: [String]) async throws {
        let arguments =
            ["--rounds", "8", "--seed", "1", "--seconds", "600", "--limit", "60", "--only", Self.moves] + mode
        let ending = try await DriverProcess(program: "QoSStress", arguments).ending()
        #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
        // Not its first words: on a machine with no time to spare a shutdown may have left a worker behind, and says so.
        #expect(ending.output.contains("rounds 8,"), "\(ending.output)")
    }
}
