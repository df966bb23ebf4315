import Glibc
import QoSKernel
import QoSKernelTestSupport
import Synchronization
import Testing

@Suite("A thread", .tags(.kernel))
struct ThreadTests {
    @Test("runs its body before join returns, under the id that its owner knows")
    func runsItsBody() throws {
        let seen = Box<ThreadID?>(nil)
        let thread = try Thread(name: "body") { seen.update { $0 = .current } }
        let id = thread.id
        try thread.join()
        #expect(seen.value == id)
        #expect(id != .current)
    }

    @Test("has its name, cut to 15 bytes, before its body runs")
    func hasItsName() throws {
        let name = try onThread(named: "a name longer than 15 bytes") {
            try? KernelFile.read("/proc/self/task/\(ThreadID.current.rawValue)/comm")
        }
        #expect(name == "a name longer t\n")
    }

    @Test("has the signal mask of Dispatch's workers, with SIGABRT open as well")
    func blocksSignals() throws {
        let status = try onThread { (try? KernelFile.read("/proc/thread-self/status")) ?? "" }
        let mask = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }?.suffix(16)
        let ofDispatch: UInt64 = 0xffff_fffe_3bfb_ea27
        #expect(mask.flatMap { UInt64($0, radix: 16) } == ofDispatch & ~(1 << UInt64(SIGABRT - 1)))
    }

    @Test("leaves its creator's signal mask as it was")
    func leavesTheCreatorsMask() throws {
        func ownMask() -> [Int32] {
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            return (1..<Int32(65)).filter { unsafe sigismember(&mask, $0) == 1 }
        }
        let before = ownMask()
        try Thread(name: "mask") {}.join()
        #expect(ownMask() == before)
    }

    @Test("that joins itself gets EDEADLK with a remedy")
    func cannotJoinItself() throws {
        let own = Slot()
        let failure = Box<KernelError?>(nil)
        let finished = Gate()
        let gate = Gate()
        own.put(
            try Thread(name: "self-join") {
                gate.blockThread()
                if let thread = own.take() {
                    do throws(KernelError) {
                        try thread.join()
                    } catch {
                        failure.update { $0 = error }
                    }
                }
                finished.open()
            })
        gate.open()
        finished.blockThread()
        #expect(failure.value?.code == EDEADLK)
        #expect(failure.value?.call == .joinThread)
        #expect(failure.value?.description.contains("detach it") == true)
    }

    @Test("that is dropped or detached runs on to its end", arguments: [true, false])
    func runsOnWithoutOwner(explicitly: Bool) throws {
        let gate = Gate()
        let finished = Gate()
        do {
            let thread = try Thread(name: "orphan") {
                gate.blockThread()
                finished.open()
            }
            if explicitly { thread.detach() }
        }
        gate.open()
        finished.blockThread()
    }

    /// The sizes are beyond the usual default; a smaller request may be met from the C library's cache of stacks.
    @Test("gets at least the stack it asks for", arguments: [32 << 20, 64 << 20])
    func hasItsStack(bytes: Int) throws {
        let address = Box<UInt>(0)
        let known = Gate()
        let finish = Gate()
        let thread = try Thread(name: "stack", stackSize: bytes) {
            var local = 0
            unsafe withUnsafePointer(to: &local) { pointer in
                let position = UInt(bitPattern: pointer)
                address.update { $0 = position }
            }
            known.open()
            finish.blockThread()
        }
        known.blockThread()
        let below = try address.value - lowerEnd(ofMappingAt: address.value)
        finish.open()
        try thread.join()
        #expect(below > UInt(bytes) - 131_072)
    }

    @Test("refuses a stack size that no thread can live on", arguments: [Int.min, -1, 0, 1])
    func refusesTinyStacks(bytes: Int) {
        let failure = #expect(throws: KernelError.self) { try startWithStack(bytes) }
        #expect(failure?.code == EINVAL)
        #expect(failure?.description.contains("16 KiB") == true)
    }

    @Test("refuses a stack that the address space cannot hold")
    func refusesHugeStacks() {
        let failure = #expect(throws: KernelError.self) { try startWithStack(Int.max) }
        #expect(failure?.call == .createThread)
    }

    @Test("leaks neither memory nor a thread over many starts")
    func startsManyTimes() throws {
        let count = Box(0)
        for _ in 0..<500 {
            try Thread(name: "many") { count.update { $0 += 1 } }.join()
        }
        #expect(count.value == 500)
    }

    /// Returns the start of the mapping that contains an address (proc_pid_maps(5)).
    private func lowerEnd(ofMappingAt address: UInt) throws -> UInt {
        for line in try KernelFile.read("/proc/self/maps").split(separator: "\n") {
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2, ends[0]..<ends[1] ~= address { return ends[0] }
        }
        return 0
    }

    private func startWithStack(_ bytes: Int) throws(KernelError) {
        try Thread(name: "stack", stackSize: bytes) {}.join()
    }
}

/// A place from which a thread can take its own handle.
private final class Slot: Sendable {
    private let content = Mutex<Thread?>(nil)

    func put(_ thread: consuming sending Thread) {
        var moved: Thread? = consume thread
        content.withLock { slot in
            swap(&slot, &moved)
        }
    }

    func take() -> Thread? {
        content.withLock { slot in
            slot.take()
        }
    }
}
