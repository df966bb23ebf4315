import QoSKernel
import QoSKernelTestSupport
import Testing

/// A tree with a quota, and what its account says.
struct AccountCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let files: [String: String]
    let expected: QuotaAccount.Reading?

    static let all = [
        AccountCase(
            testDescription: "version 2 has the use in cpu.stat, in microseconds",
            files: [
                "/proc/self/cgroup": "0::/app\n", "/sys/fs/cgroup/cgroup.procs": "",
                "/sys/fs/cgroup/app/cgroup.procs": "", "/sys/fs/cgroup/app/cpu.max": "50000 100000",
                "/sys/fs/cgroup/app/cpu.stat":
                    "usage_usec 1234\nuser_usec 1000\nsystem_usec 234\nnr_periods 9\nnr_throttled 2\nthrottled_usec 5\n",
            ], expected: .init(used: 1_234_000, periods: 9, throttled: 2)),
        AccountCase(
            testDescription: "the account is that of the tightest group, not of the innermost",
            files: [
                "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/cgroup.procs": "",
                "/sys/fs/cgroup/a/b/cgroup.procs": "", "/sys/fs/cgroup/a/b/cpu.max": "200000 100000",
                "/sys/fs/cgroup/a/b/cpu.stat": "usage_usec 1\nnr_periods 1\nnr_throttled 0\n",
                "/sys/fs/cgroup/a/cgroup.procs": "", "/sys/fs/cgroup/a/cpu.max": "100000 100000",
                "/sys/fs/cgroup/a/cpu.stat": "usage_usec 7\nnr_periods 3\nnr_throttled 3\n",
            ], expected: .init(used: 7000, periods: 3, throttled: 3)),
        v1("version 1 with both controllers mounted together", mounts: ["cpu,cpuacct"], paths: ["/x"], used: 42),
        v1(
            "version 1 with the controllers apart, in groups of one path", mounts: ["cpu", "cpuacct"],
            paths: ["/x", "/x"], used: 42),
        v1("version 1 with groups of different paths", mounts: ["cpu", "cpuacct"], paths: ["/x", "/y"], used: nil),
        statistics("no file of statistics", nil),
        statistics("statistics without periods", "usage_usec 1\n"),
        statistics("more stopped periods than periods", "nr_periods 1\nnr_throttled 2\n"),
        statistics("statistics that are none", "yes\n"),
    ]

    private static func statistics(_ name: String, _ text: String?) -> AccountCase {
        var files = [
            "/proc/self/cgroup": "0::/app\n", "/sys/fs/cgroup/cgroup.procs": "", "/sys/fs/cgroup/app/cgroup.procs": "",
            "/sys/fs/cgroup/app/cpu.max": "50000 100000",
        ]
        files["/sys/fs/cgroup/app/cpu.stat"] = text
        return AccountCase(testDescription: name, files: files, expected: nil)
    }

    private static func v1(_ name: String, mounts: [String], paths: [String], used: UInt64?) -> AccountCase {
        var files = ["/proc/self/cgroup": ""]
        for (number, (mount, path)) in zip(mounts, paths).enumerated() {
            files["/proc/self/cgroup", default: ""] += "\(number + 1):\(mount):\(path)\n"
            let folder = "/sys/fs/cgroup/\(mount)\(path)"
            files["/sys/fs/cgroup/\(mount)/cgroup.procs"] = ""
            files["\(folder)/cgroup.procs"] = ""
            if mount.hasPrefix("cpu,") || mount == "cpu" {
                files["\(folder)/cpu.cfs_quota_us"] = "50000\n"
                files["\(folder)/cpu.cfs_period_us"] = "100000\n"
                files["\(folder)/cpu.stat"] = "nr_periods 10\nnr_throttled 1\nthrottled_time 77\n"
            }
            if mount.hasSuffix("cpuacct") { files["\(folder)/cpuacct.usage"] = "42\n" }
        }
        return AccountCase(
            testDescription: name, files: files, expected: .init(used: used, periods: 10, throttled: 1))
    }
}

@Suite("The account of a quota")
struct QuotaAccountTests {
    @Test("says what the group used and how often it was stopped", arguments: AccountCase.all)
    func reading(world: AccountCase) throws {
        let tree = try MadeTree(world.files)
        let quota = try #require(Topology.current(root: tree.root).quota)
        #expect(QuotaAccount(of: quota, root: tree.root)?.read() == world.expected)
    }

    @Test("follows the file, and belongs to one group")
    func follows() throws {
        let tree = try MadeTree(AccountCase.all[0].files)
        let quota = try #require(Topology.current(root: tree.root).quota)
        let account = try #require(QuotaAccount(of: quota, root: tree.root))
        #expect(account.isOf(quota))
        try tree.write("/sys/fs/cgroup/other/cgroup.procs", "")
        try tree.write("/sys/fs/cgroup/other/cpu.max", "50000 100000")
        try tree.write("/proc/self/cgroup", "0::/other\n")
        let moved = try #require(Topology.current(root: tree.root).quota)
        #expect(!account.isOf(moved))
    }

    @Test(
        "the quota has the burst of its file, and none without one or with one that makes no sense",
        arguments: [("20000\n", 20_000), (nil, 0), ("-3", 0), ("much", 0)] as [(String?, UInt64)])
    func burst(text: String?, expected: UInt64) throws {
        var files = AccountCase.all[0].files
        files["/sys/fs/cgroup/app/cpu.max.burst"] = text
        let tree = try MadeTree(files)
        #expect(Topology.current(root: tree.root).quota?.burst == expected)
    }
}
