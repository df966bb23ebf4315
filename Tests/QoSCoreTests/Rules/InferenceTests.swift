import QoSCore
import Testing

@Suite("Inference from the submitter")
struct InferenceTests {
    /// Every level there is, from the lowest.
    private static let levels = QoSClass.allCases.flatMap { qosClass in
        RelativePriority.range.map { QoSLevel(qosClass, relativePriority: RelativePriority(clamping: $0)) }
    }

    @Test("B6 userInteractive is translated to userInitiated, every other level is handed on as it is")
    func translation() {
        for level in Self.levels {
            #expect(level.propagated == (level.qosClass == .userInteractive ? .userInitiated : level))
        }
    }

    @Test("B6 the translation is monotone, and twice is as once")
    func monotone() {
        for (lower, higher) in zip(Self.levels, Self.levels.dropFirst()) {
            #expect(lower.propagated <= higher.propagated)
            #expect(higher.propagated.propagated == higher.propagated)
        }
    }

    struct Row: CustomTestStringConvertible {
        let rule: String
        var work: QoSLevel?
        var activity: QoSLevel?
        var begunAt: QoSClass?
        var task: QoSClass?
        var thread: QoSLevel?
        var mainThread: QoSLevel?
        let expected: QoSLevel?
        var testDescription: String { rule }
    }

    @Test(
        "O1 S8 T5 O2 the level that code submits with, row by row",
        arguments: [
            Row(rule: "C1 nothing is known: unspecified", expected: nil),
            Row(rule: "O1 the work counts", work: .utility, task: .utility, expected: .utility),
            Row(
                rule: "O1 the work comes before the activity", work: .utility, activity: .userInitiated,
                begunAt: .utility, task: .utility, expected: .utility),
            Row(
                rule: "O8 a raised task raises its work", work: .utility, task: .userInitiated, expected: .userInitiated
            ),
            Row(
                rule: "O8 a task of the same class does not undo the relative priority",
                work: QoSLevel(.utility, relativePriority: .lowest), task: .utility,
                expected: QoSLevel(.utility, relativePriority: .lowest)),
            Row(
                rule: "O1 work is not lowered by its task", work: .userInitiated, task: .background,
                expected: .userInitiated),
            Row(
                rule: "S8 the activity comes before the task, upwards", activity: .userInitiated, begunAt: .utility,
                task: .utility, expected: .userInitiated),
            Row(
                rule: "S8 the activity comes before the task, downwards", activity: .background,
                begunAt: .userInitiated,
                task: .userInitiated, expected: .background),
            Row(
                rule: "S8 a task that was raised since raises what the activity gives", activity: .background,
                begunAt: .utility, task: .userInitiated, expected: .userInitiated),
            Row(
                rule: "S8 without a task the activity counts too", activity: .utility, thread: .default,
                expected: .utility),
            Row(rule: "B6 a task's class", task: .utility, expected: .utility),
            Row(rule: "T1 a thread's level", thread: .utility, expected: .utility),
            Row(rule: "T5 the main thread of a service", mainThread: .default, expected: .default),
            Row(
                rule: "T5 the main thread of an interactive process", mainThread: .userInteractive,
                expected: .userInteractive),
            Row(
                rule: "O2 the main actor of an interactive process, with nothing else", task: .default,
                mainThread: .userInteractive, expected: .userInteractive),
            Row(
                rule: "O2 on the main actor with a class of its own, that counts", task: .utility,
                mainThread: .userInteractive, expected: .utility),
            Row(rule: "O2 not in a service", task: .default, mainThread: .default, expected: .default),
        ])
    func order(row: Row) {
        var facts = SubmitterFacts()
        facts.work = row.work
        facts.activity = row.activity.map { ($0, row.begunAt) }
        facts.task = row.task
        facts.thread = row.thread
        facts.mainThread = row.mainThread
        #expect(facts.level == row.expected)
    }

    @Test(
        "O7 O8 work that was lowered is not raised by its task, unless that was raised since",
        arguments: [
            (QoSClass.userInitiated, QoSLevel.background), (.userInteractive, .userInteractive),
            (.utility, .background),
        ])
    func lowered(task: QoSClass, expected: QoSLevel) {
        var facts = SubmitterFacts()
        (facts.work, facts.workBegunAt, facts.task) = (.background, .userInitiated, task)
        #expect(facts.level == expected)
    }

    @Test("O2 what is created on the main thread of an interactive process, with nothing else, gets userInitiated")
    func mainThreadOfInteractiveProcess() {
        var facts = SubmitterFacts()
        facts.mainThread = .userInteractive
        #expect(facts.level?.propagated == .userInitiated)
    }

    @Test(
        "S8 the level of an activity is that of its highest option that has one",
        arguments: [
            (ActivityOptions([]), nil), (.idleSleepDisabled, nil), (.background, .background),
            (.userInitiated, .userInitiated), ([.background, .userInitiated], .userInitiated),
            (.latencyCritical, .userInteractive), ([.latencyCritical, .idleSleepDisabled], .userInteractive),
        ] as [(ActivityOptions, QoSLevel?)])
    func activityOptions(options: ActivityOptions, level: QoSLevel?) {
        #expect(options.level == level)
    }
}
