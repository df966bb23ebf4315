import QoSCore
import QoSKernel
import Testing

@Suite("The readers of load")
struct LoadReadersTests {
    private static let pressure = "some avg10=12.50 avg60=0.00 avg300=0.00 total=900\n"
    private static let stat =
        "cpu  100 0 50 800 10 0 5 35 7 7\ncpu0 1 0 0 0 0 0 0 0 0 0\ncpu1 1 0 0 0 0 0 0 0\nintr 9\n"

    @Test("S4 pressure information comes first")
    func pressure() throws {
        let tree = try MadeTree(["/proc/pressure/cpu": Self.pressure, "/proc/loadavg": "9 9 9 1/2 3"])
        #expect(StallReader(root: tree.root).read(.cpu) == .known(.init(average10: 12.5, total: 900)))
    }

    @Test("S4 without it the load average stands in, for processors alone")
    func loadAverage() throws {
        let tree = try MadeTree(["/proc/loadavg": "8.00 2.00 1.00 3/200 4711\n", "/proc/stat": Self.stat])
        let stall = try #require(StallReader(root: tree.root).read(.cpu).value)
        #expect(stall.average10 == 75 && stall.total == nil)
        #expect(stall.standIn == "the load average is 8.0 on 2 processors, and there is no pressure information")
        #expect(StallReader(root: tree.root).read(.io).problem?.contains("/proc/pressure/io") == true)
    }

    @Test("S4 an idle machine has no load", arguments: ["0.00", "1.50", "2.00"])
    func idle(load: String) throws {
        let tree = try MadeTree(["/proc/loadavg": "\(load) 0 0 1/1 1", "/proc/stat": Self.stat])
        #expect(StallReader(root: tree.root).read(.cpu).value?.average10 == 0)
    }

    @Test(
        "S4 a load average that makes no sense is unknown, with the reason why there is no pressure",
        arguments: ["", "x", "nan", "-1", "inf"])
    func noLoad(text: String) throws {
        let tree = try MadeTree(["/proc/loadavg": text, "/proc/stat": Self.stat])
        #expect(StallReader(root: tree.root).read(.cpu).problem?.contains("/proc/pressure/cpu") == true)
        let bare = try MadeTree(["/proc/loadavg": "1 1 1 1/1 1"])
        #expect(StallReader(root: bare.root).read(.cpu).problem != nil)
    }

    @Test("S4 stolen time is the eighth number, of the first eight")
    func steal() throws {
        let tree = try MadeTree(["/proc/stat": Self.stat])
        #expect(ProcessorTimeReader(root: tree.root).read() == .known(.init(part: 35, whole: 1000)))
    }

    @Test(
        "S4 another form of the file is unknown",
        arguments: [
            "", "garbage", "cpu 1 2 3 4 5 6 7\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3 4 5 6 7 x\n",
            "cpu \(UInt64.max) 2 3 4 5 6 7 8\n",
        ])
    func noSteal(text: String) throws {
        let tree = try MadeTree(["/proc/stat": text])
        #expect(ProcessorTimeReader(root: tree.root).read().problem?.contains("EBADMSG") == true)
    }

    @Test("S4 throttling is that of the innermost control group with periods")
    func throttling() throws {
        let tree = try MadeTree([
            "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/cgroup.procs": "",
            "/sys/fs/cgroup/a/b/cpu.stat": "usage_usec 5\nnr_periods 0\nnr_throttled 0\n",
            "/sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_periods 40\nnr_throttled 10\nthrottled_usec 9\n",
        ])
        #expect(ThrottlingReader(root: tree.root).read() == .known(.init(part: 10, whole: 40)))
    }

    @Test(
        "S4 without a quota, or with nonsense, throttling is unknown",
        arguments: [
            "usage_usec 5\n", "nr_periods 5\n", "nr_periods 4\nnr_throttled 5\n", "nr_periods x\nnr_throttled 1\n", "",
        ])
    func noThrottling(text: String) throws {
        let tree = try MadeTree([
            "/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/cgroup.procs": "", "/sys/fs/cgroup/a/cpu.stat": text,
        ])
        #expect(
            ThrottlingReader(root: tree.root).read().problem
                == "no control group of the process has a limit of processor time")
        let bare = try MadeTree(["/proc/x": ""])
        #expect(ThrottlingReader(root: bare.root).read().problem?.contains("/proc/self/cgroup") == true)
    }
}
