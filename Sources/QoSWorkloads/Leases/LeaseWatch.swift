/// The leases of other hosts, as one host sees them: which of them have not been renewed for a lease duration, or
/// belong to a process that has ended.
///
/// A value. Times are those of the observer's monotonic clock, so no clock that is set matters.
package struct LeaseWatch: Sendable {
    private struct Sight: Sendable {
        var sighting: LeaseSighting
        var since: Duration
    }

    private let duration: Duration
    private var sights: [WorkloadItemID: Sight] = [:]
    private var lastLook: Duration?
    /// Whether a change came too soon after a look.
    private var hasSkipped = false

    /// Makes a watch without sightings.
    package init(duration: Duration) {
        self.duration = duration
    }

    /// Asks after a change whether to look now. A look costs a read of the store, so they are a quarter of the duration
    /// apart. A change that comes sooner leads to a look later.
    package mutating func isLookDue(at now: Duration) -> Bool {
        hasSkipped = lastLook.map { now - $0 < duration / 4 } ?? false
        return !hasSkipped
    }

    /// Notes the leases of a look. Those that are missing are forgotten.
    ///
    /// - Parameter isGone: whether a process has ended for certain.
    /// - Returns: the leases that their holders have lost: the process has ended, or the beat has not changed for the
    ///   duration.
    package mutating func looked(
        _ leases: [LeaseSighting], at now: Duration, isGone: (String) -> Bool
    ) -> [(sighting: LeaseSighting, loss: LeaseLoss)] {
        lastLook = now
        var seen: [WorkloadItemID: Sight] = [:]
        var lost: [(sighting: LeaseSighting, loss: LeaseLoss)] = []
        // A process may hold many leases.
        var answers: [String: Bool] = [:]
        for sighting in leases {
            var sight = Sight(sighting: sighting, since: now)
            if let old = sights[sighting.lease.item], old.sighting == sighting { sight = old }
            seen[sighting.lease.item] = sight
            let isGone = sighting.process.map { process in
                let answer = answers[process] ?? isGone(process)
                answers[process] = answer
                return answer
            }
            if isGone == true {
                lost.append((sighting, .processEnded))
            } else if now - sight.since >= duration {
                lost.append((sighting, .expired))
            }
        }
        sights = seen
        return lost
    }

    /// The time of the next look; `nil` while no other host is known to have a lease.
    package var nextLook: Duration? {
        guard let lastLook else { return nil }
        let earliest = lastLook + duration / 4
        if hasSkipped { return earliest }
        guard let first = sights.values.map(\.since).min() else { return nil }
        return max(min(first + duration, lastLook + duration / 2), earliest)
    }
}
