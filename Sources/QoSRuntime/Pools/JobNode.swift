import CQoSShims

/// Something that waits in a queue: a Swift job, the activation of a serial lane or an item of a work queue, linked through two words of its own.
///
/// All of these have their two link words at the same offset, ``linkOffset`` bytes from their address: a Swift job offers
/// them to whichever executor holds it, a ``LaneActivation`` and a ``WorkEntry`` are laid out to match. So a queue needs no
/// allocation, and an item can be taken out of the middle.
///
/// The first word holds the address of the next node in its low 48 bits and a ``Tag`` in its high 16; the second the
/// address of the previous node. User-space addresses have 47 bits on x86-64 and 48 on arm64 under the default memory
/// layout.
///
/// Threading: the links belong to whoever holds the node: one thread before it is pushed, the queue's lock after.
struct JobNode: Equatable {
    /// Where the two words are: behind the two words of a Swift object's header. ``JobNode/verifyLayout(of:)`` holds
    /// it against the running concurrency library.
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

    /// The Swift job; only for a node whose tag says that it is one.
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
            let value = unsafe links[1]
            return value == 0 ? nil : JobNode(address: value)
        }
        nonmutating set {
            unsafe links[1] = newValue?.address ?? 0
        }
    }

    /// What the node is and which executor it runs on.
    @inline(__always)
    var tag: Tag {
        unsafe Tag(rawValue: UInt16(truncatingIfNeeded: links[0] >> 48))
    }

    /// Sets the tag and clears the links: the state in which a node is given to a queue.
    @inline(__always)
    func prepare(_ tag: Tag) {
        unsafe links[0] = UInt(tag.rawValue) << 48
        unsafe links[1] = 0
    }
}

extension JobNode {
    /// What a node is and which executor it runs on, in 16 bits.
    struct Tag: Equatable {
        let rawValue: UInt16

        init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// A Swift job of the executor with that index in the scheduler's table.
        static func job(executor: Int) -> Tag {
            Tag(rawValue: UInt16(truncatingIfNeeded: executor))
        }

        /// The activation of a serial lane.
        static let lane = Tag(rawValue: 0x8000)

        /// An item of a work queue, or what stands for several of them.
        static let entry = Tag(rawValue: 0x4000)

        var isLane: Bool { rawValue & 0x8000 != 0 }

        /// Whether it is a Swift job.
        var isJob: Bool { rawValue < 0x4000 }

        /// The executor's index; only for jobs.
        var executor: Int { Int(rawValue) }
    }
}
