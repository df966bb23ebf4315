import CQoSTestSupport
import Glibc
import QoSKernel
import QoSKernelTestSupport
import Testing

/// What a thread has that a lowered or bound thread of ours makes. The page of the protocol has the reasons.
@Suite("The origin of a thread", .tags(.kernel))
struct ThreadOriginTests {
    private let calls = LinuxSchedulingCalls()

    /// Lowers and binds the calling thread, as a worker of background is.
    private func becomeLow() throws {
        try calls.setScheduling(Scheduling(policy: .batch, nice: 19), of: .current)
        try calls.setIOPriority(.idle, of: .current)
        try calls.setTimerSlack(nanoseconds: 75_000_000, of: .current)
        let all = try calls.affinity(of: .current).ids
        try calls.setAffinity(CPUSet(all.suffix(1)), of: .current)
    }

    private func seen(_ make: (UnsafeMutablePointer<CChar>, Int) -> Void) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            unsafe start.pointee = 0
            unsafe make(start, buffer.count)
            return unsafe String(cString: start)
        }
    }

    /// The scheduling without the signal mask, which differs between ours and others.
    private func withoutMask(_ text: String) -> String { String(text.prefix { $0 != "m" }) }

    private var own: String { unsafe seen { unsafe cqos_test_scheduling($0, $1, 1) } }

    @Test("T1 one of ours that a lowered and bound thread makes inherits nothing")
    func ofOurs() throws {
        let found = Box(["", "", ""])
        try Thread(name: "first") {
            let before = own
            try? becomeLow()
            let low = own
            let inner = Box("")
            try? Thread(name: "second") { inner.update { $0 = own } }.join()
            found.update { $0 = [before, low, inner.value] }
        }.join()
        #expect(found.value[2] == found.value[0])
        #expect(found.value[1] != found.value[0])
    }

    @Test(
        "one of others that a lowered and bound thread of ours makes inherits nothing",
        .enabled(if: LibraryThreads.report.obstacle != .sanitizer))
    func ofOthers() throws {
        let found = Box(["", ""])
        try Thread(name: "maker") {
            let before = own
            try? becomeLow()
            let other = unsafe seen { unsafe cqos_test_scheduling_of_pthread($0, $1) }
            found.update { $0 = [before, other] }
        }.join()
        #expect(withoutMask(found.value[1]) == withoutMask(found.value[0]))
    }

    @Test("many threads of ours make threads at the same time, and each gets its own")
    func manyAtOnce() throws {
        let made = Box(0)
        let makers = try (0..<16).map { number in
            try RunningMaker(name: "maker-\(number)") {
                for _ in 0..<20 {
                    let inner = Box(0)
                    try? Thread(name: "inner") { inner.update { $0 = number } }.join()
                    if inner.value == number { made.update { $0 += 1 } }
                }
            }
        }
        for maker in makers { maker.join() }
        #expect(made.value == 16 * 20)
    }

    @Test("a refusal comes to the thread that asked, as the system gave it", arguments: [1, -1])
    func refusal(bytes: Int) throws {
        let code = Box<Int32>(0)
        try Thread(name: "maker") {
            do throws(KernelError) {
                try Thread(name: "tiny", stackSize: bytes) {}.join()
            } catch {
                code.update { $0 = error.code }
            }
        }.join()
        #expect(code.value == EINVAL)
    }

    @Test(
        "a worker is told the process's processors, whatever it is bound to; its code that asks the kernel is told the truth",
        .enabled(if: LibraryThreads.report.obstacle != .sanitizer))
    func processors() throws {
        let found = Box([0, 0, 0, 0])
        try Thread(name: "worker") {
            let all = (try? calls.affinity(of: .current).count) ?? 0
            try? becomeLow()
            let asOther = Int(cqos_test_processors(CQOS_TEST_SCHED))
            LibraryThreads.setRule(.worker)
            let asWorker = Int(cqos_test_processors(CQOS_TEST_SCHED))
            let bound = (try? calls.affinity(of: .current).count) ?? 0
            found.update { $0 = [all, asOther, asWorker, bound] }
        }.join()
        #expect(found.value[1] == 1)
        #expect(found.value[2] == found.value[0])
        #expect(found.value[3] == 1)
    }
}

/// A thread that can be kept in an array.
private final class RunningMaker: Sendable {
    private let thread: Lock<Thread?>

    init(name: String, _ body: @escaping @Sendable () -> Void) throws(KernelError) {
        thread = Lock(try Thread(name: name, body))
    }

    func join() {
        let own = thread.withLock { $0.take() }
        do { try own?.join() } catch { Issue.record(error) }
    }
}
