import QoSCore
import Testing

@testable import QoSRuntime

@Suite("The driver of admission", .tags(.stress), .timeLimit(.minutes(2)))
struct AdmissionTests {
    @Test("counts every worker once, though those of high classes leave notes instead of waiting for the lock")
    func notes() throws {
        let admission = Admission(processors: 2, parameters: SchedulingParameters())
        let threads = try (0..<6).map { number in
            try RunningThread(name: "admission-\(number)") {
                let own = number % QoSClass.allCases.count
                for _ in 0..<5_000 {
                    // Each admission stands for a worker that comes, finds nothing, and goes.
                    var admitted = admission.workBecameRunnable(rank: own)
                    while let qosClass = admitted.popHighest() {
                        admitted.formUnion(admission.workerWentIdle(rank: qosClass.rank))
                    }
                }
            }
        }
        for thread in threads { try thread.join() }
        // An event looks for notes that are left.
        var admitted = admission.ticked()
        while let qosClass = admitted.popHighest() {
            admitted.formUnion(admission.workerWentIdle(rank: qosClass.rank))
        }
        for qosClass in QoSClass.allCases { #expect(admission.running(rank: qosClass.rank) == 0) }
    }
}
