import QoSKernel
import Testing

/// A made tree and whom this process shares its nice values with in it.
struct ScopeCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let files: [String: String]
    let spread: NiceSpread
    /// A part of the scope's description.
    let because: String

    private static let session = [
        "/proc/self/stat": "70 (a) name) (x) S 1 70 70 0 -1\n",
        "/proc/self/autogroup": "/autogroup-5 nice 0\n",
        "/proc/sys/kernel/sched_autogroup_enabled": "1\n",
    ]
    private static let cgroup = [
        "/proc/self/cgroup": "0::/app\n", "/sys/fs/cgroup/cgroup.procs": "1\n",
        "/sys/fs/cgroup/app/cpu.weight": "100\n",
    ]

    static let all: [ScopeCase] = [
        made("v2 group of its own", cgroup, ["/sys/fs/cgroup/app/cgroup.procs": "70\n"], .own, "/sys/fs/cgroup/app"),
        made("v2 group with a neighbour", cgroup, ["/sys/fs/cgroup/app/cgroup.procs": "70\n71\n"], .polite, "other"),
        made("v2 group seen from outside", cgroup, ["/sys/fs/cgroup/app/cgroup.procs": "0\n"], .polite, "other"),
        made("v2 group that is empty", cgroup, ["/sys/fs/cgroup/app/cgroup.procs": ""], .polite, "other"),
        made("v2 group without a list", cgroup, [:], .polite, "cgroup.procs"),
        made(
            "v2 group that is not below the one that is mounted", cgroup,
            [
                "/proc/self/cgroup": "0::/../app\n", "/sys/fs/cgroup/cgroup.procs": "70\n",
                "/sys/fs/cgroup/cpu.weight": "100\n",
                "/proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
            ], .polite, "/sys/fs/cgroup/../app"),
        made(
            "v2 container's own top", [:],
            [
                "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cgroup.procs": "70\n",
                "/sys/fs/cgroup/cpu.weight": "100\n",
            ], .own, "/sys/fs/cgroup"),
        made(
            "v2 weight at an ancestor only", [:],
            [
                "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/cgroup.procs": "", "/sys/fs/cgroup/a/cpu.weight": "1",
                "/sys/fs/cgroup/a/b/cgroup.procs": "70\n",
            ], .polite, "/sys/fs/cgroup/a"),
        made(
            "v2 without the controller: the autogroup decides", [:],
            ["/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/cgroup.procs": "", "/sys/fs/cgroup/a/cgroup.procs": "70"],
            .own, "ownAutogroup"),
        made(
            "v1 group of its own", [:],
            [
                "/proc/self/cgroup": "3:cpu,cpuacct:/app\n", "/sys/fs/cgroup/cpu/cgroup.procs": "1\n",
                "/sys/fs/cgroup/cpu/release_agent": "", "/sys/fs/cgroup/cpu/app/cgroup.procs": "70\n",
            ], .own, "/sys/fs/cgroup/cpu/app"),
        made(
            "v1 machine's root, session's leader", [:],
            [
                "/proc/self/cgroup": "3:cpu:/\n", "/sys/fs/cgroup/cpu/cgroup.procs": "1\n70\n",
                "/sys/fs/cgroup/cpu/release_agent": "",
            ], .own, "ownAutogroup"),
        made(
            "v1 container's top with neighbours", [:],
            ["/proc/self/cgroup": "3:cpu:/\n", "/sys/fs/cgroup/cpu/cgroup.procs": "1\n70\n"], .polite, "other"),
        made("no groups, session's leader", ["/proc/self/cgroup": ""], [:], .own, "ownAutogroup"),
        made(
            "no groups, member of a session", ["/proc/self/cgroup": ""],
            ["/proc/self/stat": "70 (x) S 1 70 9 0"], .polite, "session of process 9"),
        made(
            "autogroups off", ["/proc/self/cgroup": ""], ["/proc/sys/kernel/sched_autogroup_enabled": "0\n"],
            .polite, "switched off"),
        made("in no autogroup", ["/proc/self/cgroup": ""], ["/proc/self/autogroup": "/\n"], .polite, "no autogroup"),
        made("a garbled stat", ["/proc/self/cgroup": ""], ["/proc/self/stat": "70"], .polite, "EBADMSG"),
        made("a short stat", ["/proc/self/cgroup": ""], ["/proc/self/stat": "70 (x) S 1"], .polite, "EBADMSG"),
        ScopeCase(testDescription: "an empty tree", files: ["/x": ""], spread: .polite, because: "ENOENT"),
        ScopeCase(
            testDescription: "a kernel without autogroups", files: ["/proc/self/cgroup": ""], spread: .polite,
            because: "sched_autogroup_enabled"),
    ]

    private static func made(
        _ name: String, _ base: [String: String], _ changes: [String: String], _ spread: NiceSpread, _ because: String
    ) -> ScopeCase {
        let files = session.merging(base) { $1 }.merging(changes) { $1 }
        return ScopeCase(testDescription: name, files: files, spread: spread, because: because)
    }
}

@Suite("The scope of nice")
struct NiceScopeTests {
    @Test("is polite unless the group is the process's own", arguments: ScopeCase.all)
    func decides(world: ScopeCase) throws {
        let tree = try MadeTree(world.files)
        let scope = NiceScope.current(root: tree.root)
        #expect(scope.spread == world.spread)
        #expect("\(scope)".contains(world.because), "\(scope)")
    }

    @Test("of this process can be told", .tags(.kernel))
    func ofThisProcess() {
        if case .shared(let reason) = NiceScope.current() {
            #expect(!reason.contains("failed"), "\(reason)")
        }
    }
}
