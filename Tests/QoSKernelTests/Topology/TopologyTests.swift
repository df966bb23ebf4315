import Glibc
import QoSKernel
import QoSKernelTestSupport
import Testing

/// A made tree and the quota that is in it.
struct QuotaCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let files: [String: String]
    /// In processors; nil is no limit.
    let limit: Double?
    /// The number of threads that fit; `nil` is as many as there are processors.
    let width: Int?
    var problems: Int = 0

    static let all: [QuotaCase] = [
        v2("v2, half a processor rounds up to one", ["/app": "50000 100000"], limit: 0.5, width: 1),
        v2("v2, one and a half round up to two", ["/app": "150000 100000\n"], limit: 1.5, width: 2),
        v2("v2, exactly two are two", ["/app": "200000 100000\n"], limit: 2, width: 2),
        v2("v2, the period left out is 100 ms", ["/app": "100000\n"], limit: 1, width: 1),
        v2("v2, max is no limit", ["/app": "max 100000\n"], limit: nil, width: nil),
        v2("v2, the parent is tighter", ["/a/b": "max 100000", "/a": "100000 100000"], limit: 1, width: 1),
        v2(
            "v2, the middle of three is the tightest, by ratio and not by number",
            ["/a/b/c": "400000 100000", "/a/b": "500000 1000000", "/a": "300000 100000"], limit: 0.5, width: 1),
        v2("v2, a controller that is off has no file", ["/a/b": nil, "/a": "300000 100000"], limit: 3, width: 3),
        v2("v2, an empty file", ["/app": ""], limit: nil, width: nil, problems: 1),
        v2("v2, garbage", ["/app": "a lot"], limit: nil, width: nil, problems: 1),
        v2("v2, a period of zero", ["/app": "100000 0"], limit: nil, width: nil, problems: 1),
        v2("v2, a quota of zero", ["/app": "0 100000"], limit: nil, width: nil, problems: 1),
        v2("v2, a negative quota", ["/app": "-5 100000"], limit: nil, width: nil, problems: 1),
        v2("v2, three numbers", ["/app": "1 2 3"], limit: nil, width: nil, problems: 1),
        v2(
            "v2, a garbled group in a sound one", ["/a/b": "?", "/a": "100000 100000"], limit: 1, width: 1, problems: 1),
        v2("v2, the largest numbers", ["/app": "\(UInt64.max) 1"], limit: Double(UInt64.max), width: nil),
        v1("v1, one processor", ["/app": ("100000", "100000")], limit: 1, width: 1),
        v1("v1, -1 is no limit", ["/app": ("-1", "100000")], limit: nil, width: nil),
        v1("v1, nested", ["/a/b": ("300000", "100000"), "/a": ("25000\n", "50000\n")], limit: 0.5, width: 1),
        v1("v1, garbage", ["/app": ("many", "100000")], limit: nil, width: nil, problems: 1),
        v1("v1, quota of -2", ["/app": ("-2", "100000")], limit: nil, width: nil, problems: 1),
        v1("v1, no period", ["/app": ("100000", nil)], limit: nil, width: nil, problems: 1),
        v1("v1, a garbled period", ["/app": ("100000", "")], limit: nil, width: nil, problems: 1),
        QuotaCase(
            testDescription: "v2, a group that is not visible: the one that is mounted counts",
            files: [
                "/proc/self/cgroup": "0::/system.slice/of-the-host\n", "/sys/fs/cgroup/cgroup.procs": "1",
                "/sys/fs/cgroup/cpu.max": "100000 100000",
            ], limit: 1, width: 1),
        hidden(
            "a container without a namespace: its own group is mounted", path: "/docker/a\\x2db",
            mounted: "/docker/a\\134x2db", limit: 1),
        hidden("a group below that one", path: "/docker/a/b", mounted: "/docker/a", limit: 0.5),
        hidden("a group of another namespace: the one that is mounted is not above it", path: "/../b", mounted: "/"),
        hidden("a group beside the one that is mounted", path: "/docker/ab", mounted: "/docker/a"),
        hidden("a group above the one that is mounted", path: "/docker", mounted: "/docker/a"),
        hidden("a mount from above the namespace: what is between is unknown", path: "/x", mounted: "/../..", limit: 1),
        hidden("a mount from above the namespace, and a group beside it", path: "/../b", mounted: "/..", limit: 0.5),
        QuotaCase(
            testDescription: "v1 and v2 beside each other, the controller in v1, mounted by its own name",
            files: [
                "/proc/self/cgroup": "9:cpuacct,cpu:/x:y\n0::/\n", "/sys/fs/cgroup/unified/cgroup.procs": "1",
                "/sys/fs/cgroup/cpu/cgroup.procs": "1", "/sys/fs/cgroup/cpu/x:y/cpu.cfs_quota_us": "150000",
                "/sys/fs/cgroup/cpu/x:y/cpu.cfs_period_us": "100000",
            ], limit: 1.5, width: 2),
        QuotaCase(
            testDescription: "no control groups are mounted", files: ["/proc/self/cgroup": "0::/app\n"],
            limit: nil, width: nil),
        QuotaCase(
            testDescription: "a garbled membership", files: ["/proc/self/cgroup": "what\n1:2\n::\n0::relative\n"],
            limit: nil, width: nil),
        QuotaCase(testDescription: "an empty tree", files: ["/x": ""], limit: nil, width: nil, problems: 1),
    ]

    /// The group's path is none below the mount point. The group that is mounted has the quota 1, and its member b 0.5.
    private static func hidden(_ name: String, path: String, mounted: String, limit: Double? = nil) -> QuotaCase {
        QuotaCase(
            testDescription: "v2, \(name)",
            files: [
                "/proc/self/cgroup": "0::\(path)\n", "/sys/fs/cgroup/cgroup.procs": "1",
                "/proc/self/mountinfo": "30 24 0:26 \(mounted) /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n",
                "/sys/fs/cgroup/cpu.max": "100000 100000", "/sys/fs/cgroup/b/cpu.max": "50000 100000",
            ], limit: limit, width: limit == nil ? nil : 1, problems: limit == nil ? 1 : 0)
    }

    /// The process is in the group of the longest path.
    private static func v2(
        _ name: String, _ limits: [String: String?], limit: Double?, width: Int?, problems: Int = 0
    ) -> QuotaCase {
        let own = limits.keys.max { $0.count < $1.count } ?? "/"
        var files = ["/proc/self/cgroup": "0::\(own)\n", "/sys/fs/cgroup/cgroup.procs": ""]
        for (path, text) in limits {
            files["/sys/fs/cgroup\(path)/cgroup.procs"] = ""
            files["/sys/fs/cgroup\(path)/cpu.max"] = text
        }
        return QuotaCase(testDescription: name, files: files, limit: limit, width: width, problems: problems)
    }

    private static func v1(
        _ name: String, _ limits: [String: (quota: String, period: String?)], limit: Double?, width: Int?,
        problems: Int = 0
    ) -> QuotaCase {
        let own = limits.keys.max { $0.count < $1.count } ?? "/"
        let mount = "/sys/fs/cgroup/cpu,cpuacct"
        var files = [
            "/proc/self/cgroup": "5:memory:/other\n4:cpu,cpuacct:\(own)\n1:name=systemd:/x\n",
            "\(mount)/cgroup.procs": "", "\(mount)/cpu.cfs_quota_us": "-1", "\(mount)/cpu.cfs_period_us": "100000",
        ]
        for (path, (quota, period)) in limits {
            files["\(mount)\(path)/cpu.cfs_quota_us"] = quota
            files["\(mount)\(path)/cpu.cfs_period_us"] = period
        }
        return QuotaCase(testDescription: name, files: files, limit: limit, width: width, problems: problems)
    }
}

@Suite("The topology")
struct TopologyTests {
    @Test("takes the tightest quota on the way to the top", arguments: QuotaCase.all)
    func quota(world: QuotaCase) throws {
        let tree = try MadeTree(world.files)
        let topology = Topology.current(root: tree.root)
        #expect(topology.quota?.processors == world.limit)
        #expect(topology.problems.count == world.problems, "\(topology.problems)")
        #expect(topology.width == min(topology.processors.count, world.width ?? .max))
        if world.problems == 0 || world.limit != nil {
            let many = Topology(processors: CPUSet(0..<5000), quota: topology.quota)
            #expect(many.width == world.width ?? 5000)
        }
    }

    @Test(
        "is as wide as the smaller of processors and quota, and never less than one",
        arguments: [
            (0, nil, 1), (1, nil, 1), (3, nil, 3), (2000, nil, 2000), (4, 1, 1), (4, 100_000, 1), (4, 100_001, 2),
            (4, 400_000, 4), (4, 900_000, 4), (4, UInt64.max, 4),
        ] as [(Int, UInt64?, Int)])
    func width(processors: Int, quota: UInt64?, width: Int) {
        let quota = quota.flatMap { CPUQuota(quota: $0, period: 100_000, source: "x") }
        #expect(Topology(processors: CPUSet(0..<processors), quota: quota).width == width)
    }

    @Test("a limit that cannot be read any more is what it was, and those of the other groups are followed")
    func unreadableLimit() throws {
        let tree = try MadeTree([
            "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/cgroup.procs": "", "/sys/fs/cgroup/a/b/cgroup.procs": "",
            "/sys/fs/cgroup/a/cpu.max": "50000 100000", "/sys/fs/cgroup/a/b/cpu.max": "200000 100000",
        ])
        var topology = Topology.current(root: tree.root)
        func quota(_ path: String, _ text: String?) throws -> Double? {
            try tree.write(path, text)
            topology = Topology.current(root: tree.root, after: topology)
            return topology.quota?.processors
        }
        #expect(topology.quota?.processors == 0.5)
        // The looser limit of the inner group is not the one that counts.
        #expect(try quota("/sys/fs/cgroup/a/cpu.max", "?") == 0.5)
        #expect(topology.problems.count == 1)
        #expect(try quota("/sys/fs/cgroup/a/b/cpu.max", "25000 100000") == 0.25)
        #expect(try quota("/sys/fs/cgroup/a/b/cpu.max", "max 100000") == 0.5)
        // Nothing is known of the membership.
        #expect(try quota("/proc/self/cgroup", nil) == 0.5)
        // The process has left the group.
        try tree.write("/sys/fs/cgroup/c/cpu.max", "300000 100000")
        #expect(try quota("/proc/self/cgroup", "0::/c\n") == 3)
        #expect(try quota("/proc/self/cgroup", "0::/a/b\n") == nil)
        #expect(try quota("/sys/fs/cgroup/a/cpu.max", "100000 100000") == 1)
        #expect(try quota("/sys/fs/cgroup/a/cpu.max", nil) == nil)
        #expect(topology.problems.isEmpty)
    }

    @Test("an affinity that cannot be read any more is what it was")
    func unreadableAffinity() throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.getAffinity, with: EPERM)
        let known = Topology(processors: CPUSet(0..<4), quota: nil)
        let topology = Topology.current(root: try MadeTree(["/x": ""]).root, calls: calls, after: known)
        #expect(topology.processors == known.processors)
        #expect(topology.problems.map(\.call) == [.getAffinity, .readFile])
    }

    @Test("of this machine has the affinity's processors and no problems", .tags(.kernel))
    func ofThisMachine() throws {
        let topology = Topology.current()
        #expect(topology.processors == (try LinuxSchedulingCalls().affinity(of: .current)))
        #expect(topology.width >= 1)
        #expect(topology.width <= topology.processors.count)
        #expect(topology.problems.isEmpty, "\(topology.problems)")
    }

    @Test("follows the affinity of the thread that reads it", .tags(.kernel))
    func followsTheAffinity() throws {
        let topology = try onThread { () -> Topology in
            let calls = LinuxSchedulingCalls()
            if let first = try? calls.affinity(of: .current).ids.first {
                try? calls.setAffinity(CPUSet([first]), of: .current)
            }
            return Topology.current()
        }
        #expect(topology.processors.count == 1)
        #expect(topology.width == 1)
    }

    @Test("without a readable affinity is one processor, and says so")
    func withoutAffinity() throws {
        let calls = FaultInjectingSchedulingCalls()
        calls.deny(.getAffinity, with: EPERM)
        let topology = Topology.current(calls: calls)
        #expect(topology.processors == CPUSet([0]))
        #expect(topology.width == 1)
        #expect(topology.problems.map(\.call) == [.getAffinity])
    }
}
