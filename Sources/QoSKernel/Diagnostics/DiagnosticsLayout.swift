package import QoSCore

/// The layout of the memory in which a process shows its schedulers to other processes.
///
/// **The problem.** `qosctl` shows the work of each worker of a process, its duration and its promotion. The process may
/// hang, be stopped, or be dead. So `qosctl` cannot ask the process, and the process must not pay for the look.
///
/// **The idea.** The runtime keeps its counters, and a line for each worker, in shared memory (``DiagnosticsMapping``). A
/// reader copies it and takes no lock (``DiagnosticsReader``). The counters in this memory are the runtime's own, so there
/// is no second set of them. The snapshot of a scheduler reads the same words.
///
/// **The parts.** All sizes are fixed by the version, so a reader relies on no size that it reads.
///
/// ```
/// byte            part         contents
///         0       header       mark, process, clocks, counts of timers, limits
///     4,096       strings      1,024 texts of up to 63 bytes: labels, names. Text 0 is none
///    69,632       slots        64 schedulers, 1 KiB each: state, width, the counters of each class. Slot 0 is unused
///   135,168       directory    128 rings, 64 bytes each: owner, number of records
///   143,360       lines        64 × 5 × 128 workers, 128 bytes each
/// 5,386,240       rings        128 rings of 1,024 records of 32 bytes
/// 9,580,544       activities   256 places of 128 bytes: the activities that have begun and not ended
/// ```
/// The file is sparse: only touched pages exist. A scheduler with a worker in each class touches some 40 KiB.
///
/// **Words.** Everything is a word of 64 bits in the processor's byte order, read and written whole. Only texts are bytes.
/// So no value is ever torn, and only *groups* of words need a protocol:
///
/// - *A worker's line*. The count of its steps is the sequence of a seqlock. It is odd while a job runs. A reader that
///   copies the line between two looks at the same odd step has words of that one job. All other words about a job name
///   the step for which they hold. So nobody clears them, and a job stores two words: its step at the begin and at the
///   end.
/// - *A text* is written before its number is given away, and never changes.
/// - *A record* stands alone. Its first word has its sequence. The writer clears that word, writes the others, and stores
///   it again with release. A reader believes only the sequences that can be in the ring.
/// - *An activity* stands in a place with a state. Each taking of the place has a number of its own in that word, and
///   the other words never change while it is shown (``ShownActivity``).
/// - *The header's mark* is written last.
///
/// **Damage.** The reader checks each index and length against the constants below, and takes a text for what it is: bytes
/// of another process. Random bytes in the place of a mapping give a wrong picture, or an error, and nothing else.
///
/// A change of the layout changes ``version``. A reader of another version says so and reads nothing.
/// `Docs/Inside/Protocols/diagnostics.md` has the races.
@usableFromInline
package enum DiagnosticsLayout {
    /// The version of the layout: the last byte of the mark.
    static let version: UInt64 = 2

    /// The first word: "QOSDIAG" and the version.
    static let mark: UInt64 = 0x4741_4944_534F_51 | version << 56

    /// The name of the memory in `/proc/PID/fd`.
    package static let name = "qos-diagnostics"

    /// The name of a file with the memory of a process begins with it, and ends with the id of the process.
    package static let filePrefix = "qos-diagnostics-"

    // MARK: Places and sizes, in words of 8 bytes

    static let headerWords = 512
    static let strings = headerWords
    static let stringWords = 8
    package static let mostStrings = 1024
    static let slots = strings + mostStrings * stringWords
    static let slotWords = 128
    package static let slotCount = 64
    static let directory = slots + slotCount * slotWords
    static let directoryWords = 8
    static let ringCount = 128
    static let lines = directory + ringCount * directoryWords
    package static let lineWords = 16
    static let classCount = 5
    /// The number of workers of a class that are shown. Later workers have lines that nobody sees.
    package static let linesOfClass = 128
    static let rings = lines + slotCount * classCount * linesOfClass * lineWords
    static let recordWords = 4
    static let recordsOfRing = 1024
    static let activities = rings + ringCount * recordsOfRing * recordWords
    package static let activityCount = 256
    static let activityWords = 16
    static let words = activities + activityCount * activityWords

    /// The size of the memory in bytes.
    package static let size = words * 8

    /// The place of a worker's line.
    static func line(slot: Int, rank: Int, index: Int) -> Int {
        lines + ((slot * classCount + rank) * linesOfClass + index) * lineWords
    }

    /// The words of the header.
    enum Header {
        static let mark = 0
        static let size = 1
        static let process = 2
        /// The start of the process, in the kernel's ticks since the boot: it tells processes with the same id apart.
        static let started = 3
        /// The time at which the memory was made, as all times here: monotonic nanoseconds.
        static let madeAt = 4
        /// The distance from the monotonic clock to the wall clock, and to the clock that counts suspensions; each is one
        /// word, so that they need no protocol. Refreshed by the loops, at most once a second.
        static let wallOffset = 5
        static let bootOffset = 6
        static let clocksAt = 7
        /// The number of texts, and of texts for which there was no room.
        static let strings = 8
        static let stringsLost = 9
        /// The number of times that a writer found no ring and wrote into the shared one.
        static let ringsLost = 10
        /// A bit for each limit that a scheduler has reached.
        static let limits = 11
        /// The number of activities that found no place, and of those that have one or look for one.
        static let activitiesLost = 12
        static let activitiesTaken = 13
        /// The timers that have fired, by the rank of the class, the runtime's own last; then the wake-ups for them.
        static let timers = 16
    }

    /// The words of a scheduler's slot.
    package enum Slot {
        package static let state = 0
        /// The number of times that the slot was taken.
        package static let generation = 1
        package static let began = 2
        package static let ended = 3
        /// The processors that the scheduler counts on.
        package static let processors = 4
        /// The time of the loop's latest look at the workers.
        package static let lookedAt = 5
        /// The kernel's id of the loop's thread.
        package static let loopThread = 6
        static let classes = 8
        static let classWords = 16

        static let open: UInt64 = 1
        static let closed: UInt64 = 2
    }

    /// The words of a class within a slot. Most are counters of the runtime (`PoolCounters`).
    package enum Class {
        /// The number of lines that have been used.
        package static let lines = 0
        package static let width = 1
        /// 1 + the limit of the width; 0 for none.
        package static let widthLimit = 2
        /// The number of jobs in the queues, as the loop saw it.
        package static let queued = 3
        package static let oldestSince = 4
        package static let longestWait = 5
        package static let movedIn = 6
        package static let raisedByEffects = 7
        package static let raisedByFence = 8
        package static let raisedForLock = 9
        package static let stalls = 10
        package static let standIns = 11
        package static let widthChange = 12
    }

    /// The words of a worker's line. The first eight are one cache line.
    @usableFromInline
    package enum Line {
        /// The number of jobs begun plus the number of jobs ended (62 bits): odd while one runs. Above it the kind of the
        /// running job (2 bits).
        @inlinable package static var steps: Int { 0 }
        /// The bits of the number.
        @inlinable package static var count: UInt64 { 1 << 62 - 1 }
        /// The kinds of work: a task or a helper of the library, calls of an actor, an item of a work queue.
        @inlinable package static var task: UInt64 { 0 }
        @inlinable package static var actor: UInt64 { 1 << 62 }
        @inlinable package static var item: UInt64 { 2 << 62 }
        /// The label (16 bits), the label of the work queue (16), the step (32). Written by the worker.
        @inlinable package static var labels: Int { 1 }
        /// The step (32 bits), the class (4), the reason (8); 0 once the raise was taken back. Written under the lock of
        /// the worker's raise.
        package static let promotion = 2
        /// The work of the promoting thread (``WorkID``), else its id, else 0. Written before ``promotion``.
        package static let promotedBy = 3
        /// The step (32 bits), the reason (8).
        package static let blocked = 4
        /// The kernel's id of the worker's thread; 0 without a thread.
        package static let thread = 5
        /// When the loop first saw the worker in a job, and in which step. Written by the loop's thread.
        package static let seenStep = 6
        package static let seenAt = 7
        /// The step of the task whose name follows, and the name with a zero at its end.
        package static let nameStep = 8
        @inlinable package static var stolen: Int { 9 }
        @inlinable package static var parked: Int { 10 }
        package static let name = 11
        package static let nameBytes = 40
    }

    /// The words of an activity's place.
    enum Activity {
        /// One of the states below (2 bits), and above it the number of times that the place was taken.
        static let state = 0
        static let id = 1
        static let parent = 2
        static let begin = 3
        /// 1 + the rank of the class that the activity gives to its work; 0 for none.
        static let level = 4
        /// The process and the activity there for which this one was begun; 0 for none.
        static let process = 5
        static let original = 6
        /// The work that began it (``WorkID``), else the id of its thread.
        static let work = 7
        /// The name with a zero at its end.
        static let name = 8
        static let nameBytes = 64

        static let free: UInt64 = 0
        static let isWritten: UInt64 = 1
        static let shown: UInt64 = 2
        static let states: UInt64 = 3
        /// Added to the first word when the place is taken.
        static let turn: UInt64 = 4
    }

    /// The words of a ring's entry in the directory.
    enum Ring {
        /// The number of records written so far.
        static let head = 0
        /// Whose ring it is: the work number 0 of a worker. The loop of a scheduler has ``loopRank``.
        static let owner = 1
        static let state = 2
        /// When its owner has gone.
        static let leftAt = 3

        static let free: UInt64 = 0
        static let taken: UInt64 = 1
        /// The owner has gone; its records stay until another one needs the ring.
        static let left: UInt64 = 2

        /// The ring of all threads that have none.
        static let shared = 0
    }
}

/// The identity of a piece of work: which job of which worker. It needs no counter of its own.
///
/// | bits | field |
/// |---|---|
/// | 56–63 | the scheduler's slot, 1…63 |
/// | 53–55 | the rank of the pool's class; 7 for the scheduler's loop |
/// | 43–52 | the worker's index |
/// | 0–42 | the number of jobs that the worker had begun with this one |
package struct WorkID: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The rank that stands for the loop of a scheduler.
    package static let loopRank = 7

    /// - Parameter steps: those of the worker (``DiagnosticsLayout/Line/steps``).
    package init(slot: Int, rank: Int, worker: Int, steps: UInt64) {
        rawValue =
            UInt64(slot & 0xFF) << 56 | UInt64(rank & 7) << 53 | UInt64(worker & 0x3FF) << 43
            | (steps &+ 1) / 2 & (1 << 43 - 1)
    }

    package var slot: Int { Int(rawValue >> 56) }
    package var rank: Int { Int(rawValue >> 53 & 7) }
    package var worker: Int { Int(rawValue >> 43 & 0x3FF) }
    package var number: UInt64 { rawValue & (1 << 43 - 1) }

    /// The class of the worker; `nil` for a loop.
    package var qosClass: QoSClass? { QoSClass(rank: rank) }
}

extension WorkID: CustomStringConvertible {
    /// The worker and the number of the job: `1/in-0#4711`.
    package var description: String {
        guard rawValue >> 43 != 0 else { return rawValue == 0 ? "-" : "thread \(rawValue)" }
        guard let qosClass else { return "\(slot)/loop" }
        return "\(slot)/\(qosClass.abbreviation)-\(worker)#\(number)"
    }
}

/// A rare event, as it stands in a ring: four words.
///
/// | word | contents |
/// |---|---|
/// | 0 | the sequence (32 bits), the kind (8), two classes (4 each), a detail (16) |
/// | 1 | the time |
/// | 2 | the work |
/// | 3 | by the kind |
package struct DiagnosticsRecord: Sendable, Hashable {
    /// The kind of the event.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// Waiting work was moved to a higher class. Payload: what the promoting thread ran.
        case promotedWaiting = 1
        /// Running work was promoted. Payload: what the promoting thread ran.
        case promotedRunning = 2
        /// A job is over its limit. Payload: for how long, in nanoseconds. Detail: its label.
        case stalledComputing = 3
        case stalledBlocked = 4
        /// A wait that the runtime cannot shorten. Payload: the text of the resource. Detail: the kind.
        case inversion = 5
        /// A message of the program for the trace of an activity. Detail: the text. Payload: the activity; 0 for none.
        case message = 6
        /// A major event of the program. Detail and payload as of a message.
        case breadcrumb = 7
    }

    /// The reason of a promotion.
    package enum Reason: UInt16, Sendable, Hashable, CaseIterable {
        case unknown = 0
        case awaited = 1
        case cancelled = 2
        case raised = 3
        case queue = 4
        case lock = 5
    }

    package var kind: Kind
    /// The class of the work before; and the class to which it was promoted.
    package var from: QoSClass?
    package var to: QoSClass?
    package var detail: UInt16
    package var time: UInt64
    package var work: WorkID
    package var payload: UInt64

    package init(
        _ kind: Kind, from: QoSClass? = nil, to: QoSClass? = nil, detail: UInt16 = 0, time: UInt64, work: WorkID,
        payload: UInt64 = 0
    ) {
        (self.kind, self.from, self.to, self.detail) = (kind, from, to, detail)
        (self.time, self.work, self.payload) = (time, work, payload)
    }

    /// The first word, for a sequence of at least 1.
    func head(sequence: UInt64) -> UInt64 {
        let classes = UInt64((from?.rank).map { $0 + 1 } ?? 0) | UInt64((to?.rank).map { $0 + 1 } ?? 0) << 4
        return sequence & 0xFFFF_FFFF | UInt64(kind.rawValue) << 32 | classes << 40 | UInt64(detail) << 48
    }

    /// Reads a record; `nil` for words that are none with that sequence.
    init?(_ words: ArraySlice<UInt64>, sequence: UInt64) {
        guard words.count == DiagnosticsLayout.recordWords, let head = words.first,
            head & 0xFFFF_FFFF == sequence & 0xFFFF_FFFF, let kind = Kind(rawValue: UInt8(head >> 32 & 0xFF))
        else { return nil }
        let rest = Array(words.dropFirst())
        self.init(
            kind, from: QoSClass(rank: Int(head >> 40 & 0xF) - 1), to: QoSClass(rank: Int(head >> 44 & 0xF) - 1),
            detail: UInt16(head >> 48), time: rest[0], work: WorkID(rawValue: rest[1]), payload: rest[2])
    }
}
