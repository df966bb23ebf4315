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

    @Test("X3 S8 an activity with a name gives no level, keeps that around it, and is of the same kind")
    func named() throws {
        let level = QoS.withActivity("plain") { QoS.activity?.level }
        #expect(level == nil)
        try QoS.performActivity(.background, reason: "outer") {
            let outer = try #require(QoS.activity)
            QoS.withActivity("inner") {
                #expect(QoS.activity?.reason == "inner" && QoS.activity?.parentID == outer.id)
                #expect(QoS.activity?.level == .background && QoS.activity?.originator == nil)
                #expect(QoS.activities.contains { $0.id == QoS.activity?.id })
            }
        }
    }

    @Test("X1 X3 a child and an unstructured task have the activity, also after its body; a detached task has none")
    func followed() async {
        let isOver = Gate()
        let (seen, late) = await QoS.withActivity("followed") {
            async let child = QoS.activity?.id
            let task = Task { QoS.activity?.id }
            let detached = Task.detached { QoS.activity?.id }
            let late = Task { () async -> UInt64? in
                await isOver.passed()
                return QoS.activity?.id
            }
            return await ([QoS.activity?.id, child, task.value, detached.value], late)
        }
        isOver.open()
        let afterwards = await late.value
        #expect(seen[0] != nil && seen[1] == seen[0] && seen[2] == seen[0] && seen[3] == nil)
        #expect(afterwards == seen[0] && QoS.activity == nil)
        #expect(!QoS.activities.contains { $0.id == afterwards })
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
