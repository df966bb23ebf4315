import QoSCore
import QoSFileTestSupport
import QoSKernel
import Testing

@Suite("The readers of memory and disk")
struct RoomReadersTests {
    private static let meminfo = "MemTotal:       1000 kB\nMemFree:   100 kB\nMemAvailable:    250 kB\n"

    @Test("S4 the machine's available memory counts where no group is tighter")
    func machine() throws {
        let tree = try MadeTree(["/proc/meminfo": Self.meminfo])
        let room = SystemReadings.Room(free: 250 << 10, whole: 1000 << 10, place: "the machine")
        #expect(MemoryReader(root: tree.root).read() == .known(room))
        #expect(room.share == 0.25)
    }

    @Test("S4 a control group that is tighter counts; unused file pages are free", arguments: [true, false])
    func group(isV2: Bool) throws {
        let tree =
            isV2
            ? try MadeTree([
                "/proc/meminfo": Self.meminfo, "/proc/self/cgroup": "0::/app\n", "/sys/fs/cgroup/cgroup.procs": "",
                "/sys/fs/cgroup/app/memory.max": "1000\n", "/sys/fs/cgroup/app/memory.current": "950\n",
                "/sys/fs/cgroup/app/memory.stat": "anon 1\ninactive_file 50\n",
            ])
            : try MadeTree([
                "/proc/meminfo": Self.meminfo, "/proc/self/cgroup": "4:memory:/app\n1:cpu:/other\n",
                "/sys/fs/cgroup/memory/cgroup.procs": "",
                "/sys/fs/cgroup/memory/app/memory.limit_in_bytes": "1000\n",
                "/sys/fs/cgroup/memory/app/memory.usage_in_bytes": "950\n",
                "/sys/fs/cgroup/memory/app/memory.stat": "cache 1\ntotal_inactive_file 50\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes": "9\n",
            ])
        let room = try #require(MemoryReader(root: tree.root).read().value)
        #expect(room.free == 100 && room.whole == 1000)
        #expect(room.place == "the control group /sys/fs/cgroup/\(isV2 ? "app" : "memory/app")")
    }

    @Test(
        "S4 nonsense is no limit",
        arguments: [("max", "5"), ("0", "5"), ("x", "5"), ("1000", ""), ("-1", "5"), ("\(UInt64.max)", "5")])
    func noLimit(limit: String, use: String) throws {
        let tree = try MadeTree([
            "/proc/meminfo": Self.meminfo, "/proc/self/cgroup": "0::/app\n", "/sys/fs/cgroup/cgroup.procs": "",
            "/sys/fs/cgroup/app/memory.max": limit, "/sys/fs/cgroup/app/memory.current": use,
        ])
        #expect(MemoryReader(root: tree.root).read().value?.place == "the machine")
    }

    @Test(
        "S4 memory that is not shown is unknown",
        arguments: ["", "MemTotal: 5 kB", "MemTotal: 0 kB\nMemAvailable: 0 kB", "x"])
    func unknownMemory(text: String) throws {
        let tree = try MadeTree(["/proc/meminfo": text])
        #expect(MemoryReader(root: tree.root).read().problem?.hasSuffix("does not show the available memory") == true)
    }

    @Test("S4 a group that uses more than its limit has nothing free")
    func over() throws {
        let tree = try MadeTree([
            "/proc/meminfo": Self.meminfo, "/proc/self/cgroup": "0::/app\n", "/sys/fs/cgroup/cgroup.procs": "",
            "/sys/fs/cgroup/app/memory.max": "10", "/sys/fs/cgroup/app/memory.current": "20",
        ])
        #expect(MemoryReader(root: tree.root).read().value?.free == 0)
    }

    @Test("S4 a file system that can be written has a size; others are unknown", .tags(.kernel))
    func disk() throws {
        let folder = try TemporaryFolder("qos-disk")
        let room = try #require(DiskReader(paths: [folder["missing"], folder.path]).read().value)
        #expect(room.place == folder.path && room.whole > 0 && room.free <= room.whole)
        #expect(DiskReader(paths: [folder["missing"]]).read().problem?.contains("statvfs failed for") == true)
        #expect(DiskReader(paths: []).read().problem == "no file system is watched")
        #expect(DiskReader(paths: ["/proc"]).read().problem == "/proc has no size")
    }
}
