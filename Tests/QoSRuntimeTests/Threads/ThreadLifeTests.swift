import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("A thread from its making to its end", .timeLimit(.minutes(5)))
struct ThreadLifeTests {
    @Test(
        "those that have begun to wait for a thread that the system then refuses are given out, and it may be started again"
    )
    func refused() {
        var life = ThreadLife<Int> { 1 }
        let (early, wait, late) = (ThreadWait(), ThreadWait(), ThreadWait())
        #expect(!life.waits { $0.threads.append(early) })
        #expect(life.started() != nil)
        #expect(life.started() == nil)
        #expect(life.waits { $0.threads.append(wait) })
        #expect(life.startFailed().threads.map { $0 === wait } == [true])
        #expect(life.isReady)
        #expect(!life.waits { $0.threads.append(late) })
        #expect(life.started() != nil)
        #expect(life.waits { $0.threads.append(late) })
        #expect(life.ended(.success(2)).threads.map { $0 === late } == [true])
        #expect((try? life.result?.get()) == 2)
    }

    @Test("those that wait for a thread while the system refuses it are told that it was not started")
    func waitersOfRefused() async throws {
        let impossible = QoSThread(name: "impossible", stackSize: -1) {}
        let (over, told) = (Tally(), Tally())
        let joiner = try RunningThread(name: "joiner") {
            while over.value == 0 {
                #expect(throws: QoSThreadError.notStarted(name: "impossible")) { try impossible.join() }
                told.add()
            }
        }
        let awaiting = Task {
            while over.value == 0 {
                await #expect(throws: QoSThreadError.notStarted(name: "impossible")) { try await impossible.value }
            }
        }
        for _ in 0..<5_000 { #expect(throws: QoSThreadError.self) { try impossible.start() } }
        over.add()
        try joiner.join()
        await awaiting.value
        #expect(told.value > 0)
    }
}
