import QoSCore
import Testing

@testable import QoSKernel

@Suite("The reader of processes' energy", .tags(.kernel))
struct EnergyReaderTests {
    private static let status =
        "Name:\tqos-bg-0\nState:\tS\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"
    private static let stat = "7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 20 30 0 0 20 0 2 0\n"

    @Test("S7 threads are read with time and switches")
    func threads() throws {
        let tree = try MadeTree([
            "/proc/7/task/7/status": Self.status, "/proc/7/task/7/schedstat": "5000 1 1\n",
            "/proc/7/task/8/status": Self.status, "/proc/7/task/8/stat": Self.stat,
            "/proc/7/task/x/status": "", "/proc/7/stat": Self.stat,
        ])
        let snapshot = try EnergyReader(process: 7, root: tree.root).read()
        #expect(
            snapshot.threads == [
                .init(
                    id: 7, name: "qos-bg-0", processorNanoseconds: 5000, voluntarySwitches: 12, involuntarySwitches: 3),
                .init(
                    id: 8, name: "qos-bg-0", processorNanoseconds: 500_000_000, voluntarySwitches: 12,
                    involuntarySwitches: 3),
            ])
        #expect(snapshot.processNanoseconds == 500_000_000)
        #expect(snapshot.counters.isEmpty && snapshot.counterProblem != nil)
    }

    @Test("S7 a thread that ends meanwhile is left out; a process that is gone is an error")
    func gone() throws {
        let tree = try MadeTree([
            "/proc/7/task/7/status": Self.status, "/proc/7/task/7/schedstat": "5 1 1\n",
            "/proc/7/task/8/comm": "", "/proc/7/task/9/status": Self.status, "/proc/6/task/6/comm": "",
        ])
        #expect(try EnergyReader(process: 7, root: tree.root).read().threads.map(\.id) == [7])
        #expect(throws: EnergyReader.Problem.noProcess(6)) { try EnergyReader(process: 6, root: tree.root).read() }
        #expect(throws: EnergyReader.Problem.noProcess(5)) { try EnergyReader(process: 5, root: tree.root).read() }
    }

    @Test(
        "S7 files that make no sense are an error",
        arguments: [
            "", "garbage", "Name:\ta\n", "Name:\ta\nvoluntary_ctxt_switches:\t-1\nnonvoluntary_ctxt_switches:\t1\n",
            "Name:\ta\nvoluntary_ctxt_switches:\t99999999999999999999\nnonvoluntary_ctxt_switches:\t1\n",
        ])
    func garbage(status: String) throws {
        let tree = try MadeTree(["/proc/7/task/7/status": status, "/proc/7/task/7/schedstat": "5 1 1\n"])
        #expect(throws: EnergyReader.Problem.self) { try EnergyReader(process: 7, root: tree.root).read() }
    }

    @Test(
        "S7 times that make no sense are an error",
        arguments: ["", "7 (a", "7 (a) S 1", "7 (a) S 1 1 1 0 -1 0 0 0 0 0 x 30"])
    func garbageTime(stat: String) throws {
        let tree = try MadeTree([
            "/proc/7/task/7/status": Self.status, "/proc/7/task/7/schedstat": "?", "/proc/7/task/7/stat": stat,
        ])
        #expect(throws: EnergyReader.Problem.self) { try EnergyReader(process: 7, root: tree.root).read() }
    }

    @Test("S7 energy counters of packages are read, their parts and broken ones are not")
    func counters() throws {
        let folder = "/sys/class/powercap"
        let tree = try MadeTree([
            "\(folder)/intel-rapl:0/energy_uj": "123\n", "\(folder)/intel-rapl:0/max_energy_range_uj": "1000\n",
            "\(folder)/intel-rapl:0/name": "package-0\n", "\(folder)/intel-rapl:0:0/energy_uj": "1\n",
            "\(folder)/intel-rapl:0:0/max_energy_range_uj": "1000\n", "\(folder)/intel-rapl:1/energy_uj": "-5\n",
            "\(folder)/intel-rapl:1/max_energy_range_uj": "1000\n", "\(folder)/intel-rapl:2/energy_uj": "hot\n",
            "\(folder)/dtpm/energy_uj": "1\n",
        ])
        let found = EnergyReader(root: tree.root).readCounters()
        #expect(found.counters == [.init(name: "package-0", microjoules: 123, range: 1000)] && found.problem == nil)
        let none = try MadeTree(["\(folder)/intel-rapl:0/energy_uj": "999"])
        #expect(EnergyReader(root: none.root).readCounters().problem != nil)
    }

    @Test("S7 this process is read, and an id that nobody has is an error")
    func real() throws {
        let snapshot = try EnergyReader().read()
        #expect(snapshot.threads.contains { $0.processorNanoseconds > 0 })
        #expect(throws: EnergyReader.Problem.noProcess(.max)) { try EnergyReader(process: .max).read() }
    }
}
