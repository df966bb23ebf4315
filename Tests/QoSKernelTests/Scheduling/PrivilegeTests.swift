import Glibc
import QoSKernel
import Testing

@Suite("The kernel's scheduling calls, with the right to raise", .tags(.kernel), .enabled(if: Privilege.nice))
struct PrivilegedSchedulingTests {
    private let calls = LinuxSchedulingCalls()

    @Test("go below zero and back, and out of IDLE")
    func raise() throws {
        try onIdleThread { thread in
            try calls.setNice(10, of: thread)
            try calls.setScheduling(Scheduling(policy: .other, nice: -12, slice: 100_000), of: thread)
            #expect(try ProcStat(of: thread).nice == -12)
            try calls.setScheduling(Scheduling(policy: .idle), of: thread)
            try calls.setScheduling(Scheduling(policy: .other, nice: 0), of: thread)
            #expect(try ProcStat(of: thread).policy == SchedulingPolicy.other.number)
        }
    }

    @Test(
        "set real-time policies, which keep nice",
        .enabled(if: Privilege.siblings),
        arguments: [SchedulingPolicy.fifo(priority: 1), .roundRobin(priority: 2)])
    func realTime(policy: SchedulingPolicy) throws {
        try onIdleThread { thread in
            try calls.setNice(4, of: thread)
            try calls.setScheduling(Scheduling(policy: policy), of: thread)
            let after = try calls.scheduling(of: thread)
            #expect(after.policy == policy)
            #expect(after.nice == 4)
            #expect(try ProcStat(of: thread).realtimePriority == policy.priority)
        }
    }

    @Test("set and read a sibling's timer slack", .enabled(if: Privilege.siblings))
    func slackOfSibling() throws {
        try onIdleThread { thread in
            try calls.setTimerSlack(nanoseconds: 5_000_000, of: thread)
            #expect(try calls.timerSlack(of: thread) == 5_000_000)
        }
    }
}

@Suite("The kernel's scheduling calls, without the right to raise", .tags(.kernel), .disabled(if: Privilege.nice))
struct UnprivilegedSchedulingTests {
    private let calls = LinuxSchedulingCalls()

    @Test("lower nice in one way only: EACCES by setpriority, EPERM by sched_setattr, each with a remedy")
    func niceIsOneWay() throws {
        try onIdleThread { thread in
            try calls.setNice(19, of: thread)
            let byNice = #expect(throws: KernelError.self) { try calls.setNice(-1, of: thread) }
            #expect(byNice?.code == EACCES)
            #expect(byNice?.remedy.contains("CAP_SYS_NICE") == true)
            let byAttributes = #expect(throws: KernelError.self) {
                try calls.setScheduling(Scheduling(policy: .other, nice: -1), of: thread)
            }
            #expect(byAttributes?.code == EPERM)
            #expect(try ProcStat(of: thread).nice == 19)
        }
    }

    @Test("change policy between OTHER and BATCH, and the slice, both ways")
    func policyAndSliceGoBothWays() throws {
        try onIdleThread { thread in
            let start = try calls.scheduling(of: thread)
            try calls.setScheduling(Scheduling(policy: .batch, nice: start.nice, slice: 20_000_000), of: thread)
            try calls.setScheduling(Scheduling(policy: .other, nice: start.nice), of: thread)
            #expect(try calls.scheduling(of: thread) == start)
        }
    }

    @Test("refuse a sibling's timer slack", .disabled(if: Privilege.siblings))
    func slackOfSibling() throws {
        try onIdleThread { thread in
            let set = #expect(throws: KernelError.self) {
                try calls.setTimerSlack(nanoseconds: 50_000, of: thread)
            }
            #expect(set?.code == EPERM)
            #expect(set?.call == .setTimerSlackOfOther)
            #expect(throws: KernelError.self) { try calls.timerSlack(of: thread) }
        }
    }
}
