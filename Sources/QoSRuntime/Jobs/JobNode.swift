import CQoSShims
import QoSCore
import Synchronization

/// An entry of a queue, linked through two words of its own: a Swift job, the activation of a serial lane, or an entry
/// of a work queue.
///
/// All of these have their two link words at the same offset, ``linkOffset`` bytes from their address. A Swift job
/// offers the words to its present executor. A ``LaneActivation`` and a ``PoolEntry`` have the same layout. So a queue
/// needs no allocation, and an entry can be taken out of the middle.
///
/// The first word holds the address of the next node in its low 48 bits and a ``Tag`` in its high 16. The second word
/// holds the address of the previous node in its low 48 bits and a ``Place`` in its high 16. User-space addresses have
/// 47 bits on x86-64 and 48 on arm64 under the default memory layout.
///
/// Threading: the links belong to the holder of the node: one thread before it is pushed, the queue's lock after.
struct JobNode: Equatable {
    /// The offset of the two words: behind the two words of a Swift object's header. ``JobNode/verifyLayout(of:)``
    /// compares it with the running concurrency library.
    static let linkOffset = 2 * MemoryLayout<UInt>.size

    private static let addressMask: UInt = (1 << 48) - 1

    let address: UInt

    init(address: UInt) {
        self.address = address
    }

    init(_ job: UnownedJob) {
        // SAFETY: `UnownedJob` is a frozen struct of one pointer, the job's address.
        address = unsafe unsafeBitCast(job, to: UInt.self)
    }

    /// The Swift job. Only for a node whose tag says that it is one.
    var job: UnownedJob {
        // SAFETY: the inverse of `init(_: UnownedJob)`; the tag was checked by the caller.
        unsafe unsafeBitCast(address, to: UnownedJob.self)
    }

    @inline(__always)
    private var links: UnsafeMutablePointer<UInt> {
        // SAFETY: the address is that of a live job or activation, which has two words at this offset.
        unsafe UnsafeMutablePointer(bitPattern: address &+ UInt(Self.linkOffset)).unsafelyUnwrapped
    }

    /// The node behind this one in its queue.
    @inline(__always)
    var next: JobNode? {
        get {
            let value = unsafe links[0] & Self.addressMask
            return value == 0 ? nil : JobNode(address: value)
        }
        nonmutating set {
            unsafe links[0] = (links[0] & ~Self.addressMask) | (newValue?.address ?? 0)
        }
    }

    /// The node before this one in its queue.
    @inline(__always)
    var previous: JobNode? {
        get {
            let value = second & Self.addressMask
            return value == 0 ? nil : JobNode(address: value)
        }
        nonmutating set {
            second = (second & ~Self.addressMask) | (newValue?.address ?? 0)
        }
    }

    /// The place where the node is queued. The holder of the node writes it. Any thread may read it while the job is
    /// alive, but the value is certain only under the lock of the named queue.
    @inline(__always)
    var place: Place {
        get { Place(rawValue: UInt16(truncatingIfNeeded: second >> 48)) }
        nonmutating set { second = (second & Self.addressMask) | UInt(newValue.rawValue) << 48 }
    }

    /// The second word. Relaxed and atomic, because another thread may read the place while the owner changes it.
    @inline(__always)
    private var second: UInt {
        get {
            // SAFETY: as `links`; an atomic word is laid out as the word.
            unsafe UnsafeMutableRawPointer(links + 1).assumingMemoryBound(to: Atomic<UInt>.self).pointee
                .load(ordering: .relaxed)
        }
        nonmutating set {
            unsafe UnsafeMutableRawPointer(links + 1).assumingMemoryBound(to: Atomic<UInt>.self).pointee
                .store(newValue, ordering: .relaxed)
        }
    }

    /// Notes the queue in which the node is. Under that queue's lock, or by the holder of the node.
    ///
    /// A yielded task itself is in no queue. While its resuming job is in one, the task's own words hold the place and
    /// name the job. So an explicit raise finds the task like a queued one.
    @inline(__always)
    func settle(at place: Place) {
        self.place = place
        if tag.isContinuation { settleYielded(at: place) }
    }

    private func settleYielded(at place: Place) {
        guard let task = ConcurrencyRuntime.yieldedTask(of: job) else { return }
        let standIn = JobNode(address: task.rawValue)
        standIn.prepare(.yielded)
        if place != .none { standIn.second = UInt(place.rawValue) << 48 | address }
    }

    /// Notes that a worker is about to run the task. Until the task is queued again, ``rankOfLatestRun`` tells in which
    /// pool it ran.
    ///
    /// The note is a place of no scheduler. Other executors use the lower bits of the word: Dispatch writes 1 there, or
    /// the address of a queue.
    @inline(__always)
    func noteRun(inPoolOf rank: Int) { second = UInt(rank + 1) << 48 }

    /// The rank of the pool in which a task that is in no queue ran last; `nil` if it ran in no pool.
    var rankOfLatestRun: Int? {
        let noted = second
        let isNote = noted & Self.addressMask == 0 || noted & 0xF == Self.sleepMark
        guard isNote, (1...UInt(QoSClass.allCases.count)).contains(noted >> 48) else { return nil }
        return Int(noted >> 48) - 1
    }

    /// The low bits of a word that marks a sleep. No address has them, and neither has what other executors write.
    private static let sleepMark: UInt = 0xB

    /// Notes that the task, which runs, is about to sleep, and that a helper of the library will resume it.
    ///
    /// Each executor writes the word when the task is queued or run again. So ``sleeps(by:)`` tells when the sleep is
    /// over.
    func noteSleep(by helper: JobNode) {
        second = UInt((rankOfLatestRun ?? -1) + 1) << 48 | helper.address & Self.addressMask | Self.sleepMark
    }

    /// Whether the task still sleeps until the helper resumes it, as far as can be seen. Any thread; the task and the
    /// helper are alive.
    ///
    /// Once it does not, nothing but a cancellation has ended the sleep: the helper has not run. An executor that leaves
    /// the word alone hides the end.
    func sleeps(by helper: JobNode) -> Bool {
        second & Self.addressMask == helper.address & Self.addressMask | Self.sleepMark
    }

    /// The node that is queued for this one: itself or, for a yielded task, the resuming job. Under the lock of the
    /// queue that ``place`` names.
    var queued: JobNode? { tag == .yielded ? previous : self }

    /// The kind of the node, and the executor on which it runs.
    @inline(__always)
    var tag: Tag {
        unsafe Tag(rawValue: UInt16(truncatingIfNeeded: links[0] >> 48))
    }

    /// Prepares a node that is in no queue for one of a higher class. It loses its lowering, which counted only in its
    /// own class.
    func changesClass() {
        unsafe links[0] = (links[0] & Self.addressMask) | UInt(tag.unlowered.rawValue) << 48
    }

    /// Sets the tag and clears the links. A node must be in this state when it is given to a queue.
    @inline(__always)
    func prepare(_ tag: Tag) {
        unsafe links[0] = UInt(tag.rawValue) << 48
        second = 0
    }
}

extension JobNode {
    /// The kind of a node and the executor on which it runs, in 16 bits.
    struct Tag: Equatable {
        let rawValue: UInt16

        init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Returns the tag of a Swift job of the executor at this index in the scheduler's table, 0…255.
        ///
        /// - Parameter precedence: the distance by which the job goes before the others of its class,
        ///   0…``maximumPrecedence``.
        static func job(executor: Int, precedence: Int = 0) -> Tag {
            Tag(rawValue: UInt16(truncatingIfNeeded: precedence << 8 | executor))
        }

        /// Returns the same tag, behind the others of its class.
        ///
        /// - Parameter steps: the distance, 0…15: the relative priority without its sign.
        func lowered(by steps: Int) -> Tag {
            steps == 0 ? self : Tag(rawValue: rawValue & ~Self.orders | UInt16(truncatingIfNeeded: (16 | steps) << 8))
        }

        /// The same tag for a job that resumes a yielded task.
        var continuation: Tag { Tag(rawValue: rawValue | 0x2000) }

        /// A yielded task, which is in no queue itself: see ``JobNode/queued``.
        static let yielded = Tag(rawValue: 0x6000)

        /// The largest precedence. Jobs with a larger one count as having this one.
        static let maximumPrecedence = 7

        /// The bits of ``order``.
        private static let orders: UInt16 = 0x1F00

        /// The position of the node among those of its class: 0 for nearly all. A node of 1…7 goes before these, a node
        /// of 17…31 behind them.
        @inline(__always)
        var order: Int { Int(rawValue >> 8 & 0x1F) }

        @inline(__always)
        var hasOrder: Bool { rawValue & Self.orders != 0 }

        /// The same tag without a place behind the others.
        var unlowered: Tag { order < 16 ? self : Tag(rawValue: rawValue & ~Self.orders) }

        /// The activation of a serial lane.
        static let lane = Tag(rawValue: 0x8000)

        /// The tag of a work queue's item, or of an entry that represents several of them.
        static let entry = Tag(rawValue: 0x4000)

        var isLane: Bool { rawValue & 0x8000 != 0 }

        /// Whether the node is a Swift job that resumes a yielded task. The job frees itself when it runs.
        @inline(__always)
        var isContinuation: Bool { rawValue & 0xE000 == 0x2000 }

        /// Whether the node is a Swift job.
        var isJob: Bool { rawValue < 0x4000 }

        /// The executor's index; only for jobs.
        @inline(__always)
        var executor: Int { Int(rawValue & 0xFF) }

        /// Whether the node is a Swift job without a declared shutdown behavior.
        @inline(__always)
        var isPlainJob: Bool { rawValue & 0xFF < UInt16(ExecutorIndex.perBehavior) }

        /// The declared shutdown behavior of the work; only for jobs.
        var shutdownBehavior: ShutdownBehavior? {
            ShutdownBehavior(rawValue: UInt8(truncatingIfNeeded: executor / ExecutorIndex.perBehavior))
        }
    }
}

extension JobNode {
    /// The worker's queue in which a node is, in 16 bits: 6 for the scheduler, 3 for the class, 7 for the worker. All
    /// zero for a node in no queue, or in one without a name.
    struct Place: Equatable {
        static let none = Place(rawValue: 0)

        /// The numbers of schedulers and workers that a place can name: schedulers 1…63, workers 0…127.
        static let schedulers = 63
        static let workers = 128

        let rawValue: UInt16

        init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Makes the place of a worker's queue. The scheduler must have a number.
        init(scheduler: Int, rank: Int, worker: Int) {
            guard (1...Self.schedulers).contains(scheduler), worker < Self.workers else {
                self = .none
                return
            }
            rawValue = UInt16(truncatingIfNeeded: scheduler << 10 | rank << 7 | worker)
        }

        var scheduler: Int { Int(rawValue >> 10) }
        var rank: Int { Int(rawValue >> 7 & 7) }
        var worker: Int { Int(rawValue & 127) }
    }
}
