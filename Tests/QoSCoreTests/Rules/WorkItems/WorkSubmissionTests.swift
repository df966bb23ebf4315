import Testing

@testable import QoSCore

/// One row of the rules' table: a submission and the level that follows from it.
struct SubmissionRow: CustomTestStringConvertible {
    let rule: String
    let submission: WorkSubmission
    let level: QoSLevel?

    var testDescription: String { rule }

    init(_ rule: String, _ submission: WorkSubmission, _ level: QoSLevel?) {
        self.rule = rule
        self.submission = submission
        self.level = level
    }
}

@Suite("The level of a work item")
struct WorkSubmissionTests {
    static let asynchronousRows = [
        SubmissionRow(
            "B5 (1) the queue's own level goes before target, item and submitter",
            .init(
                queueLevel: .utility, target: .global(.background), itemLevel: .userInitiated, submitter: .background),
            .utility),
        SubmissionRow(
            "B5 (2) the level of the global queue that is the immediate target goes before item and submitter",
            .init(target: .global(.background), itemLevel: .userInitiated, submitter: .utility), .background),
        SubmissionRow(
            "B5 (2) the global queue of the default class gives no level",
            .init(target: .global(.default), itemLevel: .userInitiated, submitter: .utility), .userInitiated),
        SubmissionRow(
            "B5 (3) the item's level goes before the submitter's", .init(itemLevel: .utility, submitter: .default),
            .utility),
        SubmissionRow("B5 (4) without anything else the submitter's level", .init(submitter: .utility), .utility),
        SubmissionRow(
            "B5 (4) behind the global queue of the default class the submitter's level",
            .init(target: .global(.default), submitter: .background), .background),
        SubmissionRow(
            "B6 userInteractive is inferred as userInitiated", .init(submitter: .userInteractive), .userInitiated),
        SubmissionRow(
            "B6 the relative priority is inferred with the class",
            .init(submitter: QoSLevel(.userInteractive, relativePriority: RelativePriority(clamping: -3))),
            QoSLevel(.userInitiated, relativePriority: RelativePriority(clamping: -3))),
        SubmissionRow(
            "B6 an assigned userInteractive is not translated", .init(itemLevel: .userInteractive), .userInteractive),
        SubmissionRow("C2 without any information it is default", .init(), .default),
        SubmissionRow(
            "B8 asynchronous default is inherit: a higher item takes the queue's level",
            .init(queueLevel: .utility, itemLevel: .userInitiated), .utility),
        SubmissionRow(
            "B8 inherit, said explicitly, is the same",
            .init(queueLevel: .utility, itemLevel: .userInitiated, flags: .inheritQoS), .utility),
        SubmissionRow(
            "B8 enforce prefers the item's level on a queue that has one",
            .init(queueLevel: .utility, itemLevel: .userInitiated, flags: .enforceQoS), .userInitiated),
        SubmissionRow(
            "B8 enforce only raises",
            .init(queueLevel: .utility, itemLevel: .background, flags: .enforceQoS), .utility),
        SubmissionRow(
            "B8 enforce prefers the item's level over that of the targeted global queue",
            .init(target: .global(.background), itemLevel: .utility, flags: .enforceQoS), .utility),
        SubmissionRow(
            "B8 enforce concerns the item's level and not the submitter's",
            .init(queueLevel: .utility, flags: .enforceQoS, submitter: .userInitiated), .utility),
        SubmissionRow(
            "B8 enforce beside inherit wins",
            .init(queueLevel: .utility, itemLevel: .userInitiated, flags: [.inheritQoS, .enforceQoS]), .userInitiated),
        SubmissionRow(
            "B8 noQoS: neither the item's level nor the submitter's",
            .init(itemLevel: .userInitiated, flags: .noQoS, submitter: .userInitiated), .default),
        SubmissionRow(
            "B8 noQoS leaves the queue's level",
            .init(queueLevel: .background, itemLevel: .userInitiated, flags: [.noQoS, .enforceQoS]), .background),
        SubmissionRow(
            "B9 detached: not the submitter's level", .init(flags: .detached, submitter: .userInitiated), .default),
        SubmissionRow(
            "B9 detached keeps its own level", .init(itemLevel: .utility, flags: .detached, submitter: .userInitiated),
            .utility),
        SubmissionRow(
            "B9 detached keeps the queue's level",
            .init(queueLevel: .background, flags: .detached, submitter: .userInitiated),
            .background),
        SubmissionRow(
            "B9 assignCurrent: what was captured counts, and not the submitter",
            .init(flags: .assignCurrent, submitter: .userInitiated), .default),
        SubmissionRow(
            "B1 the relative priority of the queue holds",
            .init(queueLevel: QoSLevel(.utility, relativePriority: .lowest), itemLevel: .utility),
            QoSLevel(.utility, relativePriority: .lowest)),
    ]

    @Test("B5 B6 B8 B9 asynchronous submission", arguments: asynchronousRows)
    func asynchronous(_ row: SubmissionRow) {
        #expect(row.submission.asynchronousLevel == row.level)
        var other = row.submission
        other.submitter = .background
        // Whoever asks first whether the submitter matters must get the truth.
        #expect(row.submission.needsSubmitter || other.asynchronousLevel == row.level)
    }

    static let synchronousRows = [
        SubmissionRow("B7 without a level the calling thread's", .init(submitter: .utility), .utility),
        SubmissionRow(
            "B7 the calling thread's is not translated", .init(submitter: .userInteractive), .userInteractive),
        SubmissionRow(
            "B7 the item's level goes before the thread's", .init(itemLevel: .userInitiated, submitter: .utility),
            .userInitiated),
        SubmissionRow(
            "B7 it only ever raises the thread", .init(itemLevel: .background, submitter: .utility), .utility),
        SubmissionRow(
            "B7 the queue's level does not matter",
            .init(queueLevel: .userInitiated, target: .global(.userInitiated), submitter: .utility), .utility),
        SubmissionRow("B7 a thread without a level takes the item's", .init(itemLevel: .utility), .utility),
        SubmissionRow("B7 neither has one", .init(), nil),
        SubmissionRow(
            "B8 synchronous default is enforce",
            .init(itemLevel: .userInitiated, flags: .enforceQoS, submitter: .utility),
            .userInitiated),
        SubmissionRow(
            "B8 inherit prefers the thread's level",
            .init(itemLevel: .userInitiated, flags: .inheritQoS, submitter: .utility),
            .utility),
        SubmissionRow(
            "B8 inherit on a thread without a level takes the item's", .init(itemLevel: .utility, flags: .inheritQoS),
            .utility),
        SubmissionRow(
            "B8 noQoS leaves the thread's", .init(itemLevel: .userInitiated, flags: .noQoS, submitter: .utility),
            .utility),
        SubmissionRow("B8 noQoS on a thread without a level", .init(itemLevel: .userInitiated, flags: .noQoS), nil),
    ]

    @Test("B7 B8 synchronous submission", arguments: synchronousRows)
    func synchronous(_ row: SubmissionRow) {
        #expect(row.submission.synchronousLevel == row.level)
    }

    static let handlersRows = [
        SubmissionRow("B10 detached by default", .init(submitter: .userInitiated), .default),
        SubmissionRow("B10 at the queue's level", .init(queueLevel: .utility, submitter: .userInitiated), .utility),
        SubmissionRow("B10 at the item's level", .init(itemLevel: .background, submitter: .userInitiated), .background),
    ]

    @Test("B10 handlers, and items submitted after a delay", arguments: handlersRows)
    func handlers(_ row: SubmissionRow) {
        #expect(row.submission.detachedLevel == row.level)
    }

    static let capturesRows: [(String, QoSLevel?, WorkItemFlags, QoSLevel?, QoSLevel?)] = [
        ("B9 nothing is captured without the flag", nil, [], .utility, nil),
        ("B9 assignCurrent captures the creator's level", nil, .assignCurrent, .utility, .utility),
        ("B9 what is captured is inferred, and so translated", nil, .assignCurrent, .userInteractive, .userInitiated),
        ("B9 choice: an assigned level wins", .background, .assignCurrent, .utility, .background),
        ("B9 a detached item captures nothing", nil, [.assignCurrent, .detached], .utility, nil),
    ]

    @Test("B9 capture at creation", arguments: capturesRows)
    func captures(rule: String, assigned: QoSLevel?, flags: WorkItemFlags, creator: QoSLevel?, expected: QoSLevel?) {
        #expect(WorkSubmission.captured(assigned: assigned, flags: flags, creator: creator) == expected, "\(rule)")
    }

    @Test("B1 a queue reads its own level, else that of the global queue it targets, else unspecified")
    func readable() {
        #expect(WorkSubmission.readableLevel(of: .utility, target: .global(.background)) == .utility)
        #expect(WorkSubmission.readableLevel(of: nil, target: .global(.background)) == .background)
        #expect(WorkSubmission.readableLevel(of: nil, target: .global(.default)) == .default)
        #expect(WorkSubmission.readableLevel(of: nil, target: .other) == nil)
    }

    @Test("B8 no submission with any flags runs below the level of its queue or its thread")
    func onlyRaises() {
        let levels: [QoSLevel?] = [nil, .background, .utility, .default, .userInitiated, .userInteractive]
        for bits in UInt8(0)..<64 {
            for own in levels {
                for context in levels {
                    let flags = WorkItemFlags(rawValue: bits)
                    let asynchronous = WorkSubmission(
                        queueLevel: context, itemLevel: own, flags: flags, submitter: .utility)
                    let synchronous = WorkSubmission(itemLevel: own, flags: flags, submitter: context)
                    if let context {
                        #expect(asynchronous.asynchronousLevel >= context)
                        #expect(synchronous.synchronousLevel.map { $0 >= context } == true)
                    }
                }
            }
        }
    }
}
