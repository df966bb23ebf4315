import QoSProcessTestSupport
import Testing

/// A few rounds of `QoSStress`, with every move; `Scripts/stress` runs it for as long as is wanted.
@Suite(.serialized) struct StressProgramTests {
    @Test(
        "random operations on several schedulers all end once and are released, by preference and process-wide",
        .timeLimit(.minutes(3)), arguments: [[], ["--process"]])
    func rounds(mode: [String]) async throws {
        let arguments = ["--rounds", "8", "--seed", "1", "--seconds", "600", "--limit", "60"] + mode
        let ending = try await DriverProcess(program: "QoSStress", arguments).ending()
        #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
        // Not its first words: on a machine with no time to spare a shutdown may have left a worker behind, and says
        // so.
        #expect(ending.output.contains("rounds 8,"), "\(ending.output)")
    }
}
