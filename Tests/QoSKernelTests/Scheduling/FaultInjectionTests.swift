import Glibc
import QoSKernel
import QoSKernelTestSupport
import Testing

@Suite("The double that injects faults")
struct FaultInjectionTests {
    @Test(
        "makes each call fail with the number given, and lets it through again",
        arguments: SeamCall.all, [EPERM, EINVAL, ESRCH, EAGAIN, ENOSYS])
    func denies(call: SeamCall, code: Int32) throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(call.name, with: code)
        try onIdleThread { thread in
            let failure = #expect(throws: KernelError.self) { try call.make(calls, thread) }
            #expect(failure?.code == code)
            #expect(failure?.call == call.name)
            #expect(calls.count(of: call.name) == 1)
            calls.allow([call.name])
            do {
                try call.make(calls, thread)
            } catch let error as KernelError where !Privilege.siblings {
                // The only calls that this user may not make.
                #expect([.setTimerSlackOfOther, .getTimerSlackOfOther].contains(error.call))
            }
            #expect(calls.count(of: call.name) == 2)
        }
    }

    @Test("does not let a denied call reach the kernel")
    func keepsDeniedCallsBack() throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny([.setNice, .setScheduling], with: EPERM)
        try onIdleThread { thread in
            let before = try ProcStat(of: thread)
            try? calls.setNice(19, of: thread)
            try? calls.setScheduling(Scheduling(policy: .idle), of: thread)
            let after = try ProcStat(of: thread)
            #expect(after.nice == before.nice)
            #expect(after.policy == before.policy)
        }
        #expect(calls.total == 2)
    }

    @Test("can fail a number of times only")
    func failsSomeTimes() throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.getNice, with: EINTR, times: 2)
        for _ in 0..<2 { #expect(throws: KernelError.self) { try calls.nice(of: .current) } }
        _ = try calls.nice(of: .current)
        #expect(calls.count(of: .getNice) == 3)
    }

    @Test("tells of each call that came through, once it has, and of no other")
    func tellsOfCalls() throws {
        let told = Box<[KernelCall]>([])
        let calls = FaultInjectingSchedulingCalls { call in told.update { $0.append(call) } }
        calls.deny(.getNice, with: EPERM)
        #expect(throws: KernelError.self) { try calls.nice(of: .current) }
        #expect(throws: KernelError.self) { try calls.affinity(of: ThreadID(rawValue: .max)) }
        _ = try calls.name(of: .current)
        #expect(told.value == [.getName])
    }

    @Test("a thread that cannot be made is an error, one that cannot be named still runs")
    func threadsUnderFaults() throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.createThread, with: EAGAIN)
        let ran = Box(0)
        let failure = #expect(throws: KernelError.self) {
            try Thread(name: "never", calls: calls) { ran.update { $0 += 1 } }.join()
        }
        #expect(failure?.description.contains("TasksMax") == true)
        #expect(ran.value == 0)

        calls.allow([.createThread])
        calls.deny(.setName, with: EPERM)
        let thread = try Thread(name: "nameless", calls: calls) { ran.update { $0 += 1 } }
        let namingError = thread.namingError
        try thread.join()
        #expect(namingError?.code == EPERM)
        #expect(ran.value == 1)
    }
}
