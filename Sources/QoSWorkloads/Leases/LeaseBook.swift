internal import QoSCore

/// The leases of a host: when to renew them, and when to stop work because a renewal is missing.
///
/// A value. Times are those of the host's monotonic clock. A lease is valid for the lease duration from the moment
/// *before* its last successful renewal began.
package struct LeaseBook: Sendable {
    private struct Page: Sendable {
        let lease: WorkloadLease
        /// The begin of the last successful renewal, or of the claim.
        var valid: Duration
        /// The time of the next renewal.
        var renewal: Duration
        /// The begin of the renewal that goes on.
        var renewing: Duration?
        var isCutOff = false
    }

    private let duration: Duration
    private var pages: [WorkloadItemID: Page] = [:]

    /// Makes a book without leases.
    package init(duration: Duration) {
        self.duration = duration
    }

    /// Whether it has no lease.
    package var isEmpty: Bool { pages.isEmpty }

    /// Notes a lease. `begin` is the time before the claim, or before the last successful renewal.
    package mutating func leased(_ lease: WorkloadLease, begin: Duration) {
        pages[lease.item] = Page(lease: lease, valid: begin, renewal: begin + Self.whole(duration / 3))
    }

    /// Notes that a lease was given back, or is kept by another book.
    ///
    /// - Returns: the begin of its last successful renewal; `nil` for an unknown one.
    @discardableResult
    package mutating func ended(_ lease: WorkloadLease) -> Duration? {
        guard let page = pages[lease.item], page.lease == lease else { return nil }
        pages[lease.item] = nil
        return page.valid
    }

    /// Takes the leases to renew now, and notes that their renewal begins.
    package mutating func renewalsDue(at now: Duration) -> [WorkloadLease] {
        var due: [WorkloadLease] = []
        for (item, page) in pages where page.renewing == nil && page.renewal <= now && !page.isCutOff {
            pages[item]?.renewing = now
            due.append(page.lease)
        }
        return due.sorted { $0.item < $1.item }
    }

    /// Notes the end of a renewal: whether it succeeded, failed, or the lease is lost.
    ///
    /// A failed one is repeated after a ninth of the duration.
    package mutating func renewalEnded(_ lease: WorkloadLease, succeeded: Bool, at now: Duration) {
        guard let page = pages[lease.item], page.lease == lease, let begin = page.renewing else { return }
        pages[lease.item]?.renewing = nil
        if succeeded {
            pages[lease.item]?.valid = begin
            pages[lease.item]?.renewal = begin + Self.whole(duration / 3)
        } else {
            pages[lease.item]?.renewal = now + Self.whole(duration / 9)
        }
    }

    /// Takes the leases whose attempts must stop: four fifths of the duration have passed without a renewal.
    package mutating func cutoffs(at now: Duration) -> [WorkloadLease] {
        let due = pages.values.filter { !$0.isCutOff && $0.valid + Self.limit(of: duration) <= now }
        for page in due { pages[page.lease.item]?.isCutOff = true }
        return due.map(\.lease).sorted { $0.item < $1.item }
    }

    /// The time of the next renewal or cutoff; `nil` without one.
    package var next: Duration? {
        pages.values.filter { !$0.isCutOff }.map { page in
            let cutoff = page.valid + Self.limit(of: duration)
            return page.renewing == nil ? min(cutoff, page.renewal) : cutoff
        }.min()
    }

    private static func limit(of duration: Duration) -> Duration { whole(duration * 4 / 5) }

    /// Rounds down to nanoseconds, so that a clock that counts them can reach the time.
    private static func whole(_ duration: Duration) -> Duration { .nanoseconds(duration.schedulerNanoseconds) }
}
