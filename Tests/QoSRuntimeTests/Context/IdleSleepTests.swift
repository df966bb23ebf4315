import Foundation
import QoSCore
import QoSFileTestSupport
import QoSProcessTestSupport
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Activities that keep the machine awake", .tags(.process), .timeLimit(.minutes(5)))
struct IdleSleepTests {
    @Test("S8 the program that keeps the machine awake ends with a process that was killed")
    func killed() async throws {
        let folder = try TemporaryFolder("inhibitor")
        try folder.writeProgram(
            "systemd-inhibit",
            """
            #!/bin/sh
            echo "$5" >> "$0.calls"
            while read -r line; do :; done
            echo ended >> "$0.calls"

            """)
        func calls() -> String { (try? folder.read("systemd-inhibit.calls")) ?? "" }
        let driver = try DriverProcess("keeps-awake", folder.path)
        await driver.printed("awake=requested")
        while !calls().hasSuffix("\n") { await Task.yield() }
        #expect(!calls().contains("ended"))
        driver.send(SIGKILL)
        _ = await driver.ending()
        while !calls().hasSuffix("ended\n") { await Task.yield() }
    }

    @Test("S8 the request ends with the activity, on a throw and on cancellation too, and no machine makes it fail")
    func ends() async throws {
        struct Failure: Error {}
        // The machine of the test may have an inhibitor or not.
        #expect(throws: Failure.self) {
            try QoS.performActivity(.idleSleepDisabled, reason: "throws") {
                #expect(QoS.idleSleepInhibition != .notRequested)
                throw Failure()
            }
        }
        await endedEverywhere()
        let began = Gate()
        let task = Task {
            try await QoS.performActivity([.idleSleepDisabled, .userInitiated], reason: "sleeps") {
                began.open()
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        await began.passed()
        #expect(QoS.idleSleepInhibition != .notRequested)
        task.cancel()
        _ = await task.result
        await endedEverywhere()
    }

    /// Waits until no activity asks any more. Other tests have such activities for a moment, too.
    private func endedEverywhere() async {
        while QoS.idleSleepInhibition != .notRequested { await Task.yield() }
    }
}
