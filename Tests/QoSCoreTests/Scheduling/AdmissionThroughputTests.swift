import Foundation
import QoSCore
import QoSSimulation
import QoSTesting
import Testing

@Suite("Simulation throughput")
struct AdmissionThroughputTests {
    private let arrivals = 400_000

    @Test(
        "Events per second, printed", .enabled(if: ProcessInfo.processInfo.environment["QOS_MEASURE"] != nil),
        arguments: [false, true])
    func throughput(checks: Bool) throws {
        var random = SeededGenerator(seed: 1)
        var time: Int64 = 0
        let script = (0..<arrivals).map { _ in
            time += Int64.random(in: 0...50_000, using: &random)
            let qosClass = QoSClass.allCases.randomElement(using: &random) ?? .default
            return ScriptEvent(
                at: time, kind: .arrive(qosClass, length: Int64.random(in: 1_000...80_000, using: &random)))
        }
        var simulation = AdmissionSimulation(
            SimulatedWorld(cores: 2, script: script), checksInvariants: checks)
        let clock = ContinuousClock()
        let elapsed = try clock.measure { try simulation.run(until: time) }
        let seconds = Double(elapsed.schedulerNanoseconds) / 1e9
        let jobs = simulation.results.finished.reduce(0, +)
        print(
            "admission simulation, invariants \(checks ? "checked" : "not checked"): "
                + "\(Int(Double(simulation.events) / seconds)) machine events/s, "
                + "\(Int(Double(simulation.events + jobs + arrivals) / seconds)) events/s in all, "
                + "\(simulation.events) machine events in \(elapsed)")
        #expect(simulation.events > arrivals)
    }

    @Test(
        "Nanoseconds per event of the machine, printed",
        .enabled(if: ProcessInfo.processInfo.environment["QOS_MEASURE"] != nil), arguments: [2, 64])
    func costPerEvent(_ cores: Int) {
        var machine = AdmissionMachine(cores: cores)
        for qosClass in QoSClass.allCases {
            _ = machine.workBecameRunnable(qosClass, at: SchedulerInstant(nanoseconds: 0))
        }
        let rounds = 1_000_000
        var bits: UInt64 = 0
        let elapsed = ContinuousClock().measure {
            for round in 1...rounds {
                let time = SchedulerInstant(nanoseconds: Int64(round) * 1_000)
                let asked = machine.workBecameRunnable(.userInteractive, at: time)
                bits &+= UInt64(machine.ticked(at: time).mustAsk.rawValue)
                let ended =
                    asked.admit.contains(.userInteractive)
                    ? machine.workerWentIdle(.userInteractive, at: time) : machine.ticked(at: time)
                bits &+= UInt64(ended.mustAsk.rawValue)
            }
        }
        print("admission, \(cores) cores: \(elapsed.schedulerNanoseconds / Int64(3 * rounds)) ns per event (\(bits))")
        #expect(machine.counters.admissions > 0)
    }
}
