import Glibc
import QoSKernel
import Synchronization
import Testing

@Suite("A parker", .tags(.kernel))
struct ParkerTests {
    @Test("takes a token that was there before, without sleeping")
    func takesAnEarlierToken() {
        let parker = Parker()
        #expect(parker.unpark() == false)
        parker.park()
    }

    @Test("holds one token however often it is unparked")
    func holdsOneToken() {
        let parker = Parker()
        for _ in 0..<3 { #expect(parker.unpark() == false) }
        #expect(parker.park(untilNanoseconds: 0) == true)
        #expect(parker.park(untilNanoseconds: 0) == false)
    }

    @Test("gives up at a deadline that has passed, or passes, and keeps working", arguments: [0, 1_000_000])
    func givesUpAtTheDeadline(nanosecondsAhead: UInt64) {
        let parker = Parker()
        let deadline = MonotonicClock.nanoseconds() + nanosecondsAhead
        #expect(parker.park(untilNanoseconds: deadline) == false)
        #expect(MonotonicClock.nanoseconds() >= deadline)
        parker.unpark()
        #expect(parker.park(untilNanoseconds: deadline) == true)
    }

    @Test("takes the token before the deadline, however far that is", arguments: [60_000_000_000, UInt64.max])
    func takesTheTokenBeforeTheDeadline(ahead: UInt64) throws {
        let now = MonotonicClock.nanoseconds()
        let deadline = ahead == .max ? .max : now + ahead
        let shared = SharedParker()
        let taken = Box<Bool?>(nil)
        let thread = try Thread(name: "deadline") {
            let result = shared.parker.park(untilNanoseconds: deadline)
            taken.update { $0 = result }
        }
        shared.awaitParked()
        #expect(shared.parker.unpark() == true)
        try thread.join()
        #expect(taken.value == true)
    }

    @Test("makes a system call only for an owner that sleeps")
    func wakesOnlySleepers() throws {
        let shared = SharedParker()
        let thread = try Thread(name: "sleeper") { shared.parker.park() }
        shared.awaitParked()
        #expect(shared.parker.unpark() == true)
        try thread.join()
        #expect(shared.parker.unpark() == false)
    }

    @Test("sleeps on after wake-ups that bring no token")
    func survivesSpuriousWakeUps() throws {
        let shared = SharedParker()
        let done = Box(false)
        let thread = try Thread(name: "spurious") {
            shared.parker.park()
            done.update { $0 = true }
        }
        shared.awaitParked()
        for _ in 0..<1000 {
            shared.wakeWithoutToken()
            #expect(done.value == false)
        }
        shared.parker.unpark()
        try thread.join()
        #expect(done.value == true)
    }

    @Test("sleeps on after signals", arguments: [false, true])
    func survivesSignals(withDeadline: Bool) throws {
        let handled = Signals.install(SIGURG)
        let before = handled()
        let shared = SharedParker()
        let done = Box(false)
        let handle = Box(pthread_self())
        let thread = try Thread(name: "signals") {
            handle.update { $0 = pthread_self() }
            Signals.unblock(SIGURG)
            if withDeadline {
                while !shared.parker.park(untilNanoseconds: MonotonicClock.nanoseconds() + 60_000_000_000) {}
            } else {
                shared.parker.park()
            }
            done.update { $0 = true }
        }
        shared.awaitParked()
        for sent in 1...100 {
            Signals.send(SIGURG, to: handle.value)
            while handled() < before + sent { sched_yield() }
            #expect(done.value == false)
        }
        shared.parker.unpark()
        try thread.join()
    }
}

/// A parker that several threads can reach, and what the tests do to it from outside of its protocol.
final class SharedParker: Sendable {
    let parker = Parker()

    /// Returns when the owner has announced that it sleeps.
    func awaitParked() {
        while unsafe parker.word.pointee.load(ordering: .relaxed) != 2 { sched_yield() }
    }

    /// Wakes the sleeper as a stray wake-up would.
    func wakeWithoutToken() {
        unsafe wakeFutex(UnsafeMutableRawPointer(parker.word))
    }
}
