/// A graph's data of one queue.
struct OperationQueueRecord: Sendable {
    /// The operations of one level.
    struct Bucket: Sendable {
        let level: LevelIndex
        /// The unfinished operations.
        var members = SequenceQueue()
        /// The ready operations among them.
        var ready = SequenceQueue()
    }

    /// The operations between two barriers, or one barrier.
    struct Segment: Sendable {
        var unfinished = 0
        /// The ready operations that wait for the segments before.
        var held: [SequenceQueue.Entry] = []
    }

    var isInUse = true
    var isReleased = false
    /// The number of suspensions that were not taken back.
    var suspensions: Int
    var isSuspended: Bool { suspensions > 0 }
    /// The number of operations that may run at the same time.
    var limit: Int
    var running = 0
    var unfinished = 0
    /// The number of announced lists that are not complete. None of their operations starts before.
    var comingLists = 0
    /// Whether the queue is marked for a search for operations that can start.
    var isRestless = false

    var assigned: LevelIndex
    /// The level of the present promotion (rule Q2); none without one.
    var promoted = LevelIndex.none
    var lifetime: QueuePromotionLifetime
    /// The number of the present promotion. It keeps the holders of an earlier one apart.
    var promotionEpoch: UInt32 = 1
    var promotionHolders = 0

    /// The buckets in the order of their levels; few, and never removed.
    var buckets: [Bucket] = []

    var segments: [Segment] = [Segment()]
    /// The number of the first segment that is not over.
    var firstSegment: UInt64 = 0
    private var segmentsOver = 0

    init(assigned: LevelIndex, limit: Int, lifetime: QueuePromotionLifetime, isSuspended: Bool) {
        self.assigned = assigned
        self.limit = limit
        self.lifetime = lifetime
        suspensions = isSuspended ? 1 : 0
    }

    /// The level that the queue gives to operations now; none for a queue without one.
    var level: LevelIndex { promoted == .none ? assigned : promoted }

    /// Ends the promotion.
    mutating func endPromotion() {
        promoted = .none
        promotionHolders = 0
        // 0 is that of operations that hold up none.
        promotionEpoch = promotionEpoch == .max ? 1 : promotionEpoch + 1
    }

    /// Returns the place of a level's bucket, and makes the bucket if necessary.
    mutating func bucket(_ level: LevelIndex) -> Int {
        var index = buckets.endIndex
        while index > 0 {
            let found = buckets[index - 1].level
            if found == level { return index - 1 }
            if found < level { break }
            index -= 1
        }
        buckets.insert(Bucket(level: level), at: index)
        return index
    }

    // MARK: Segments

    /// The number of the segment for the next operation.
    var lastSegment: UInt64 { firstSegment + UInt64(segments.count - 1 - segmentsOver) }

    /// Whether a barrier separates operations of the queue from others, or from later ones.
    var isDivided: Bool { segments.count - 1 > segmentsOver }

    /// Reserves places in the present segment for operations of a list that are added later.
    ///
    /// - Returns: the segment's number.
    mutating func reserve(_ count: Int) -> UInt64 {
        segments[segments.endIndex - 1].unfinished += count
        return lastSegment
    }

    /// Returns the segment of an operation that is added now.
    mutating func segmentForNext(isBarrier: Bool) -> UInt64 {
        if isBarrier {
            segments.append(Segment())
            segments.append(Segment())
        }
        let last = segments.endIndex - 1
        let index = isBarrier ? last - 1 : last
        segments[index].unfinished += 1
        return firstSegment + UInt64(index - segmentsOver)
    }

    /// Keeps a ready operation until its segment's turn.
    mutating func hold(_ entry: SequenceQueue.Entry, segment: UInt64) {
        segments[segmentsOver + Int(segment - firstSegment)].held.append(entry)
    }

    /// Counts a finished operation of a segment.
    mutating func operationFinished(inSegment segment: UInt64) {
        segments[segmentsOver + Int(segment - firstSegment)].unfinished -= 1
    }

    /// Goes on to the next segment if the first one is over.
    ///
    /// - Returns: the operations that waited for it; `nil` if nothing changes.
    mutating func nextSegment() -> [SequenceQueue.Entry]? {
        guard segments[segmentsOver].unfinished == 0, segmentsOver + 1 < segments.count else { return nil }
        segments[segmentsOver] = Segment()
        segmentsOver += 1
        firstSegment += 1
        let held = segments[segmentsOver].held
        segments[segmentsOver].held = []
        if segmentsOver > 64, segmentsOver > segments.count / 2 {
            segments.removeFirst(segmentsOver)
            segmentsOver = 0
        }
        return held
    }
}

/// The places in a queue that are kept for a list, which is added in several events.
package struct ListPlaces: Sendable {
    /// The place of one operation of a list.
    package struct Place: Sendable {
        /// The number of the segment in the queue.
        let segment: UInt64
        /// The number in the order of adding.
        let sequence: UInt64
    }

    /// The number of the list's segment in the queue.
    let segment: UInt64
    private var nextSequence: UInt64

    init(segment: UInt64, firstSequence: UInt64) {
        self.segment = segment
        nextSequence = firstSequence
    }

    /// Takes the next place. There are as many as the list has operations.
    package mutating func next() -> Place {
        defer { nextSequence += 1 }
        return Place(segment: segment, sequence: nextSequence)
    }
}
