import Glibc
import QoSKernel
import Testing

@Suite("The kernel's scheduling calls", .tags(.kernel))
struct LinuxSchedulingCallsTests {
    private let calls = LinuxSchedulingCalls()

    @Test(
        "set what they read back, and what /proc shows",
        arguments: [
            Scheduling(policy: .other, nice: 5),
            Scheduling(policy: .batch, nice: 10),
            Scheduling(policy: .other, nice: 3, slice: 100_000),
            Scheduling(policy: .batch, nice: 19, slice: 100_000_000),
            Scheduling(policy: .idle),
        ])
    func setAndRead(wanted: Scheduling) throws {
        try onIdleThread { thread in
            let before = try calls.scheduling(of: thread)
            try calls.setScheduling(wanted, of: thread)
            let after = try calls.scheduling(of: thread)
            #expect(after.policy == wanted.policy)
            #expect(after.nice == (wanted.policy.isFair ? wanted.nice : before.nice))
            #expect(after.slice == wanted.slice ?? before.slice)
            let shown = try ProcStat(of: thread)
            #expect(shown.policy == wanted.policy.number)
            #expect(shown.nice == after.nice)
            #expect(try calls.nice(of: thread) == after.nice)
        }
    }

    @Test("return to the kernel's slice with nil, and keep a slice over setpriority")
    func sliceAndNice() throws {
        try onIdleThread { thread in
            let kernels = try calls.scheduling(of: thread).slice
            try calls.setScheduling(Scheduling(policy: .other, nice: 1, slice: 500_000), of: thread)
            try calls.setNice(7, of: thread)
            #expect(
                try calls.scheduling(of: thread) == Scheduling(policy: .other, nice: 7, slice: 500_000))
            try calls.setScheduling(Scheduling(policy: .other, nice: 7), of: thread)
            #expect(try calls.scheduling(of: thread).slice == kernels)
        }
    }

    @Test(
        "refuse values that the kernel would clamp or misunderstand",
        arguments: [
            Scheduling(policy: .other, nice: -21),
            Scheduling(policy: .other, nice: 20),
            Scheduling(policy: .other, nice: 19, slice: 99_999),
            Scheduling(policy: .other, nice: 19, slice: 100_000_001),
            Scheduling(policy: .fifo(priority: 0)),
            Scheduling(policy: .roundRobin(priority: 100)),
            Scheduling(policy: .fifo(priority: .min)),
            Scheduling(policy: .foreign(number: 6)),
        ])
    func refuseSchedulingOutOfRange(wanted: Scheduling) throws {
        try onIdleThread { thread in
            let before = try calls.scheduling(of: thread)
            let failure = #expect(throws: KernelError.self) { try calls.setScheduling(wanted, of: thread) }
            #expect(failure?.code == EINVAL)
            #expect(try calls.scheduling(of: thread) == before)
        }
    }

    @Test("refuse nice, levels, slack and processors out of range")
    func refuseOthersOutOfRange() throws {
        try onIdleThread { thread in
            for nice in [-21, 20, Int.min, Int.max] {
                #expect(throws: KernelError.self) { try calls.setNice(nice, of: thread) }
            }
            for level in [-1, 8, Int.min, Int.max] {
                let failure = #expect(throws: KernelError.self) {
                    try calls.setIOPriority(.bestEffort(level: level), of: thread)
                }
                #expect(failure?.code == EINVAL)
            }
            #expect(throws: KernelError.self) { try calls.setTimerSlack(nanoseconds: 0, of: .current) }
            for none in [CPUSet([]), CPUSet([500_000])] {
                let failure = #expect(throws: KernelError.self) { try calls.setAffinity(none, of: thread) }
                #expect(failure?.code == EINVAL)
            }
        }
    }

    @Test(
        "set the I/O priority both ways, unprivileged too",
        arguments: [IOPriority.bestEffort(level: 0), .bestEffort(level: 7), .idle, .none])
    func ioPriority(wanted: IOPriority) throws {
        try onIdleThread { thread in
            try calls.setIOPriority(.idle, of: thread)
            try calls.setIOPriority(wanted, of: thread)
            let after = try calls.ioPriority(of: thread)
            // Kernels before 6.5 show an unset priority as the best effort that follows from nice.
            #expect(after == wanted || wanted == .none && after == .bestEffort(level: 4))
        }
    }

    @Test("set the caller's own timer slack", arguments: [1, 50_000, 75_000_000, UInt64(Int64.max)])
    func ownSlack(nanoseconds: UInt64) throws {
        let result = try onThread { [calls] in
            Result { () throws(KernelError) in
                try calls.setTimerSlack(nanoseconds: nanoseconds, of: .current)
                return try calls.timerSlack(of: .current)
            }
        }
        #expect(try result.get() == nanoseconds)
    }

    @Test("name a sibling, as /proc shows it")
    func nameOfSibling() throws {
        try onIdleThread { thread in
            try calls.setName(ThreadName("another (name)"), of: thread)
            #expect(try calls.name(of: thread) == "another (name)")
            #expect(try ProcStat(of: thread).name == "another (name)")
        }
    }

    @Test("fail with ESRCH and the call's name for a thread that is not there", arguments: SeamCall.ofThreads)
    func noSuchThread(call: SeamCall) {
        let failure = #expect(throws: KernelError.self) {
            try call.make(calls, ThreadID(rawValue: .max))
        }
        #expect(failure?.code == ESRCH)
        #expect(failure?.call == call.name)
        #expect(failure?.description.contains("thread \(Int32.max)") == true)
    }
}
