import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Activities", .timeLimit(.minutes(5)))
struct ActivityTests {
    @Test("S8 the activity gives its level to what is created in it, and only there")
    func level() async {
        let levels = await Task(priority: .utility) {
            let inside = await QoS.performActivity(.userInitiated, reason: "answer") {
                let task = Task { QoS.currentLevel }
                return await (QoS.currentLevel, task.escaped)
            }
            return [inside.0, inside.1, QoS.currentLevel]
        }.escaped
        #expect(levels == [.userInitiated, .userInitiated, .utility])
    }

    @Test("S8 an activity may be background although its task is not: what is created in it gets background")
    func lower() async {
        let level = await Task(priority: .userInitiated) {
            QoS.performActivity(.background, reason: "tidy up") { QoS.currentLevel }
        }.escaped
        #expect(level == .background)
    }

    @Test("S8 nested: the innermost that says a level counts; each knows its parent")
    func nested() throws {
        try QoS.performActivity(.background, reason: "outer") {
            let outer = try #require(QoS.activity)
            try QoS.performActivity(.idleSleepDisabled, reason: "middle") {
                let middle = try #require(QoS.activity)
                #expect(middle.parentID == outer.id)
                #expect(middle.level == .background)
                QoS.performActivity(.latencyCritical, reason: "inner") {
                    #expect(QoS.activity?.parentID == middle.id)
                    #expect(QoS.currentLevel == .userInteractive)
                }
                #expect(QoS.activity?.id == middle.id)
            }
        }
        #expect(QoS.activity == nil)
    }

    @Test("S8 running activities are listed with their reasons, and no longer when they have ended, by an error too")
    func listed() async {
        struct Broken: Error {}
        let reason = "listed \(UInt64.random(in: 0 ... .max))"
        func isListed() -> Bool { QoS.activities.contains { $0.reason == reason && $0.options == .background } }
        await #expect(throws: Broken.self) {
            try await QoS.performActivity(.background, reason: reason) { () async throws -> Void in
                #expect(isListed())
                await Task.yield()
                #expect(isListed())
                throw Broken()
            }
        }
        #expect(!isListed())
    }
}
