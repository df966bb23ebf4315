import QoSKernel
import Testing

/// One call of the seam with harmless arguments, for tables.
struct SeamCall: Sendable, CustomTestStringConvertible {
    let name: KernelCall
    let make: @Sendable (any SchedulingCalls, ThreadID) throws -> Void

    var testDescription: String { name.rawValue }

    /// Those that concern the thread they are given, which is not the calling one.
    static let ofThreads: [SeamCall] = [
        SeamCall(name: .setScheduling) { try $0.setScheduling(Scheduling(policy: .batch, nice: 19), of: $1) },
        SeamCall(name: .getScheduling) { _ = try $0.scheduling(of: $1) },
        SeamCall(name: .setNice) { try $0.setNice(19, of: $1) },
        SeamCall(name: .getNice) { _ = try $0.nice(of: $1) },
        SeamCall(name: .setIOPriority) { try $0.setIOPriority(.idle, of: $1) },
        SeamCall(name: .getIOPriority) { _ = try $0.ioPriority(of: $1) },
        SeamCall(name: .setTimerSlackOfOther) { try $0.setTimerSlack(nanoseconds: 50_000, of: $1) },
        SeamCall(name: .getTimerSlackOfOther) { _ = try $0.timerSlack(of: $1) },
        SeamCall(name: .setAffinity) { try $0.setAffinity($0.affinity(of: .current), of: $1) },
        SeamCall(name: .getAffinity) { _ = try $0.affinity(of: $1) },
        SeamCall(name: .setName) { try $0.setName(ThreadName("renamed"), of: $1) },
        SeamCall(name: .getName) { _ = try $0.name(of: $1) },
    ]

    /// Every call of the seam.
    static let all =
        ofThreads + [
            SeamCall(name: .createThread) { calls, _ in try Thread(name: "seam", calls: calls) {}.join() },
            SeamCall(name: .setOwnTimerSlack) { calls, _ in
                try calls.setTimerSlack(nanoseconds: 50_000, of: .current)
            },
            SeamCall(name: .getOwnTimerSlack) { calls, _ in _ = try calls.timerSlack(of: .current) },
        ]
}
