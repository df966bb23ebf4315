internal import Synchronization

/// All that a host reports to its store and asks of it in one call: the ends of attempts, and the question for new
/// items.
///
/// A call of the store costs a transaction, and over a network a round trip. So a host makes one call for all of its
/// places, and not several for each item.
public struct HostExchange: Sendable {
    /// The attempts that have ended, in the order in which the store is to end them. Each lease is there once.
    public var ends: [AttemptEnd]
    /// The question for new items; `nil` to claim none. The store claims after the ends.
    public var claim: ClaimRequest?
    /// The other leases of the host. The answer has the standing of each one that may have changed.
    public var leases: [WorkloadLease]
    /// The mark of the last answer; `nil` to get the standings of all leases.
    public var mark: TermsMark?

    /// Makes an exchange.
    public init(
        ends: [AttemptEnd] = [], claim: ClaimRequest? = nil, leases: [WorkloadLease] = [], mark: TermsMark? = nil
    ) {
        self.ends = ends
        self.claim = claim
        self.leases = leases
        self.mark = mark
    }

    /// The answer of a store.
    public struct Answer: Sendable, Hashable {
        /// The states of the items after the ends, in their order; `nil` for a lost lease. That item did not change.
        public var ends: [WorkloadState?]
        /// The claimed items, in the order in which single claims would have given them.
        ///
        /// If they are as many as the question's limit, there may be more.
        public var claims: [WorkloadClaim]
        /// The standings of the host's other leases, as far as they may have changed since the mark.
        public var standings: [WorkloadLease: LeaseStanding]
        /// The mark for the next exchange.
        public var mark: TermsMark
        /// The time at which the next item is due; `nil` if no item waits for its time.
        public var nextDue: WallTime?

        /// Makes an answer.
        public init(
            ends: [WorkloadState?] = [], claims: [WorkloadClaim] = [],
            standings: [WorkloadLease: LeaseStanding] = [:], mark: TermsMark, nextDue: WallTime? = nil
        ) {
            self.ends = ends
            self.claims = claims
            self.standings = standings
            self.mark = mark
            self.nextDue = nextDue
        }
    }
}

/// The end of an attempt, with the last progress of its item.
public struct AttemptEnd: Sendable, Hashable {
    /// The lease of the attempt.
    public var lease: WorkloadLease
    /// The result.
    public var result: AttemptResult
    /// The progress to keep; `nil` leaves the stored one.
    public var progress: WorkloadProgress?

    /// Makes an end.
    public init(_ lease: WorkloadLease, _ result: AttemptResult, progress: WorkloadProgress? = nil) {
        self.lease = lease
        self.result = result
        self.progress = progress
    }
}

/// A moment in the history of a store's requests to the holders of leases. Only equality has a meaning.
///
/// As long as the mark stays the same, no lease was lost, and no running item was raised, cancelled or asked to defer.
public struct TermsMark: Sendable, Hashable {
    /// A number of the store's own.
    public var number: UInt64

    /// Makes a mark.
    public init(number: UInt64) {
        self.number = number
    }

    private static let last = Atomic<UInt64>(0)

    /// Makes a mark that the process has not used before.
    package static func fresh() -> TermsMark { TermsMark(number: last.add(1, ordering: .relaxed).newValue) }
}
