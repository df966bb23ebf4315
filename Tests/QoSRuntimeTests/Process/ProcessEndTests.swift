import Glibc
import Testing

@testable import QoSRuntime

@Suite("The end of the process, as a value")
struct ProcessEndTests {
    private struct Broken: Error, CustomStringConvertible {
        let description = "it is broken"
    }

    /// The end of a process whose body has begun.
    private var begun: ProcessEnd {
        var end = ProcessEnd()
        end.bodyBegan()
        return end
    }

    @Test("a signal ends a body that never began at once", arguments: [SIGINT, SIGTERM])
    func neverBegan(_ signal: Int32) {
        var end = ProcessEnd()
        #expect(end.received(signal: signal) == .exit(status: 128 + signal, message: nil))
        end.bodyBegan()
        #expect(end.received(signal: signal) == .nothing)
        #expect(end.bodyEnded(.success(())) == .nothing)
    }

    @Test("the body's outcome decides the status")
    func outcomes() {
        var end = begun
        #expect(end.bodyEnded(.success(())) == .exit(status: 0, message: nil))
        end = begun
        #expect(end.bodyEnded(.failure(Broken())) == .exit(status: 1, message: "it is broken"))
        end = begun
        #expect(end.bodyEnded(.failure(CancellationError())) == .exit(status: 1, message: "CancellationError()"))
    }

    @Test("while work blocks the end, the process waits for it, and then ends as the body did")
    func held() {
        var end = begun
        #expect(end.bodyEnded(.failure(Broken()), isHeld: true) == .awaitHeld)
        #expect(end.heldEnded() == .exit(status: 1, message: "it is broken"))
        #expect(end.heldEnded() == .nothing)
        #expect(end.received(signal: SIGTERM) == .nothing)
    }

    @Test("it does not wait for longer than the grace, and says so")
    func heldForTooLong() {
        var end = begun
        #expect(end.bodyEnded(.success(()), isHeld: true) == .awaitHeld)
        guard case .exit(status: 0, let message?) = end.graceEnded(number: end.graceNumber) else {
            Issue.record("it goes on")
            return
        }
        #expect(message.contains("blocks the end"))
        #expect(end.heldEnded() == .nothing)
    }

    @Test("work that blocks the end has its whole grace, whenever the signal came")
    func graceOfHeldWork() {
        var end = begun
        _ = end.received(signal: SIGTERM)
        let first = end.graceNumber
        #expect(end.bodyEnded(.success(()), isHeld: true) == .awaitHeld)
        #expect(end.graceEnded(number: first) == .nothing)
        #expect(end.graceEnded(number: end.graceNumber) != .nothing)
    }

    @Test("a signal ends the wait at once, be it the first or the second")
    func heldAndSignalled() {
        var end = begun
        var second = end
        #expect(end.bodyEnded(.success(()), isHeld: true) == .awaitHeld)
        #expect(end.received(signal: SIGINT) == .exit(status: 130, message: nil))
        #expect(end.heldEnded() == .nothing)
        _ = second.received(signal: SIGTERM)
        #expect(second.bodyEnded(.failure(CancellationError()), isHeld: true) == .awaitHeld)
        #expect(second.received(signal: SIGINT) == .exit(status: 130, message: nil))
    }

    @Test("an exit status is the status, without a word", arguments: [0, 1, 75, 255] as [UInt8])
    func exitStatus(_ code: UInt8) {
        var end = begun
        #expect(end.bodyEnded(.failure(QoSProcess.ExitStatus(code))) == .exit(status: Int32(code), message: nil))
    }

    @Test("the first signal asks, the second one ends", arguments: [SIGINT, SIGTERM])
    func signals(_ first: Int32) {
        var end = begun
        #expect(end.received(signal: first) == .cancelBody(signal: first))
        #expect(end.received(signal: SIGINT) == .exit(status: 130, message: nil))
    }

    @Test("a body that was cancelled by a signal says so in its status; one that ended well in spite of it does not")
    func cancelled() {
        var end = begun
        _ = end.received(signal: SIGTERM)
        var other = end
        #expect(end.bodyEnded(.failure(CancellationError())) == .exit(status: 143, message: nil))
        #expect(other.bodyEnded(.success(())) == .exit(status: 0, message: nil))
    }

    @Test("the end of the grace gives up on the body, and says so")
    func grace() {
        var end = begun
        _ = end.received(signal: SIGINT)
        guard case .exit(status: 130, let message?) = end.graceEnded(number: end.graceNumber) else {
            Issue.record("no exit with 130 and a message")
            return
        }
        #expect(message.contains("did not end in time"))
    }

    @Test("after the end nothing happens any more: the process ends once")
    func once() {
        var end = begun
        _ = end.received(signal: SIGTERM)
        #expect(end.bodyEnded(.success(())) == .exit(status: 0, message: nil))
        #expect(end.received(signal: SIGTERM) == .nothing)
        #expect(end.graceEnded(number: end.graceNumber) == .nothing)
        #expect(end.bodyEnded(.success(())) == .nothing)
    }
}
