/// What a graph knows about one queue.
struct OperationQueueRecord: Sendable {
    /// The operations of one level.
    struct Bucket: Sendable {
        let level: LevelIndex
        /// The unfinished ones.
        var members = SequenceQueue()
        /// Those of them that are ready.
        var ready = SequenceQueue()
    }

    /// The operations between two barriers, or one barrier.
    struct Segment: Sendable {
        var unfinished = 0
        /// Ready, and waiting for the segments before.
        var held: [SequenceQueue.Entry] = []
    }

    var isInUse = true
    var isReleased = false
    /// How often it was suspended, and has not been resumed since.
    var suspensions: Int
    var isSuspended: Bool { suspensions > 0 }
    /// How many may run at the same time.
    var limit: Int
    var running = 0
    var unfinished = 0
    /// How many lists are being added of which all are to be there before one of them starts.
    var comingLists = 0
    /// Whether it waits to be looked at for operations that can start.
    var isRestless = false

    var assigned: LevelIndex
    /// The level of the promotion that is on (rule Q2); none without.
    var promoted = LevelIndex.none
    var lifetime: QueuePromotionLifetime
    /// Numbers the promotions, so that what held up an earlier one is not taken for a holder of this one.
    var promotionEpoch: UInt32 = 1
    var promotionHolders = 0

    /// In the order of their levels; few, and never removed.
    var buckets: [Bucket] = []

    var segments: [Segment] = [Segment()]
    /// The number of the first segment that is not over.
    var firstSegment: UInt32 = 0
    private var segmentsOver = 0

    init(assigned: LevelIndex, limit: Int, lifetime: QueuePromotionLifetime, isSuspended: Bool) {
        self.assigned = assigned
        self.limit = limit
        self.lifetime = lifetime
        suspensions = isSuspended ? 1 : 0
    }

    /// The level that operations are held against now; none for a queue without one.
    var level: LevelIndex { promoted == .none ? assigned : promoted }

    /// Ends the promotion.
    mutating func endPromotion() {
        promoted = .none
        promotionHolders = 0
        promotionEpoch &+= 1
    }

    /// The place of a level's bucket, which is made if it is not there.
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

    /// The number of the segment of what is added now.
    var lastSegment: UInt32 { firstSegment + UInt32(segments.count - 1 - segmentsOver) }

    /// Whether a barrier keeps apart what is in the queue, or what is in it from what is going to be added.
    var isDivided: Bool { segments.count - 1 > segmentsOver }

    /// Keeps places in the segment of what is added now for operations that are added later, with others of their list.
    ///
    /// - Returns: the segment's number.
    mutating func reserve(_ count: Int) -> UInt32 {
        segments[segments.endIndex - 1].unfinished += count
        return lastSegment
    }

    /// The segment of an operation that is added now.
    mutating func segmentForNext(isBarrier: Bool) -> UInt32 {
        if isBarrier {
            segments.append(Segment())
            segments.append(Segment())
        }
        let last = segments.endIndex - 1
        let index = isBarrier ? last - 1 : last
        segments[index].unfinished += 1
        return firstSegment + UInt32(index - segmentsOver)
    }

    /// Keeps a ready operation until its segment's turn.
    mutating func hold(_ entry: SequenceQueue.Entry, segment: UInt32) {
        segments[segmentsOver + Int(segment - firstSegment)].held.append(entry)
    }

    /// An operation of a segment has finished.
    mutating func operationFinished(inSegment segment: UInt32) {
        segments[segmentsOver + Int(segment - firstSegment)].unfinished -= 1
    }

    /// Goes on to the next segment if the first one is over.
    ///
    /// - Returns: what waited for it; `nil` when nothing changes.
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
