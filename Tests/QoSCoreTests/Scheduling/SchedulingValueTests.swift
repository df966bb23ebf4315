import QoSCore
import Testing

@Suite("Scheduling values")
struct SchedulingValueTests {
    @Test(
        "C7 the default constants are those of the table of effects",
        arguments: [
            (QoSClass.userInteractive, 0.0, 8, 10), (.userInitiated, 37.5, 4, 2), (.default, 75, 2, 2),
            (.utility, 150, 1, 1), (.background, 250, 0, 1),
        ])
    func table(_ qosClass: QoSClass, _ wait: Double, _ warp: Int, _ quantum: Int) {
        let constants = SchedulingParameters()[qosClass]
        #expect(constants.worstCaseWait == .milliseconds(wait))
        #expect(constants.warp == .milliseconds(warp))
        #expect(constants.quantum == .milliseconds(quantum))
        #expect(constants.workers(cores: 8) == (qosClass == .background ? 4 : 8))
        #expect(constants.workers(cores: 1) == 1)
    }

    @Test(
        "C3 what a class waits at worst is less than its work is expected to take, and grows as the expectation does",
        arguments: [
            (QoSClass.userInteractive, Duration.milliseconds(16)), (.userInitiated, .seconds(1)),
            (.utility, .seconds(2)), (.background, .seconds(60)),
        ])
    func intent(_ qosClass: QoSClass, _ shortestExpected: Duration) {
        let parameters = SchedulingParameters()
        #expect(parameters[qosClass].worstCaseWait < shortestExpected)
        for lower in QoSClass.allCases where lower < qosClass {
            #expect(parameters[qosClass].worstCaseWait < parameters[lower].worstCaseWait)
        }
    }

    @Test("A constant that the scheduler cannot work with is refused with the reason")
    func refused() {
        #expect(throws: SchedulingParameterError.negative("warp", .milliseconds(-1))) {
            try SchedulingParameters.PerClass(worstCaseWait: .zero, warp: .milliseconds(-1), quantum: .seconds(1))
        }
        #expect(throws: SchedulingParameterError.negative("worstCaseWait", .milliseconds(-2))) {
            try SchedulingParameters.PerClass(worstCaseWait: .milliseconds(-2), warp: .zero, quantum: .seconds(1))
        }
        #expect(throws: SchedulingParameterError.quantumNotPositive(.zero)) {
            try SchedulingParameters.PerClass(worstCaseWait: .zero, warp: .zero, quantum: .zero)
        }
        #expect(throws: SchedulingParameterError.coresPerWorkerOutOfRange(0)) {
            try SchedulingParameters.PerClass(
                worstCaseWait: .zero, warp: .zero, quantum: .seconds(1), coresPerWorker: 0)
        }
        #expect(
            throws: SchedulingParameterError.waitsOutOfOrder(lower: .milliseconds(150), higher: .milliseconds(150))
        ) {
            let constants = try SchedulingParameters.PerClass(
                worstCaseWait: .milliseconds(150), warp: .zero, quantum: .milliseconds(1))
            _ = try SchedulingParameters().replacing(.default, with: constants)
        }
        #expect(SchedulingParameterError.quantumNotPositive(.zero).description.contains("use more than zero"))
    }

    @Test("Replaced constants are read back")
    func replaced() throws {
        let constants = try SchedulingParameters.PerClass(
            worstCaseWait: .milliseconds(80), warp: .zero, quantum: .milliseconds(1))
        let parameters = try SchedulingParameters().replacing(.default, with: constants)
        #expect(parameters[.default] == constants)
        #expect(parameters[.utility] == SchedulingParameters()[.utility])
    }

    @Test("A set of classes has one bit per rank and gives the highest member first")
    func classSet() {
        var set: QoSClassSet = [QoSClassSet(.background), QoSClassSet(.default)]
        #expect(set.rawValue == 0b00101)
        #expect(set.contains(.default) && !set.contains(.utility))
        #expect(set.description == "[df bg]")
        #expect(set.popHighest() == .default)
        #expect(set.popHighest() == .background)
        #expect(set.popHighest() == nil)
        #expect(QoSClassSet.all.members == QoSClass.descending)
    }

    @Test("Times and durations saturate instead of overflowing")
    func saturation() {
        let late = SchedulerInstant(nanoseconds: .max - 1)
        #expect(late.advanced(byNanoseconds: 5).nanoseconds == .max)
        #expect(SchedulerInstant(nanoseconds: .min + 1).advanced(byNanoseconds: -5).nanoseconds == .min)
        #expect(Duration.seconds(Int64.max).schedulerNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).schedulerNanoseconds == .min)
        #expect(Duration.microseconds(37_500).schedulerNanoseconds == 37_500_000)
    }
}
