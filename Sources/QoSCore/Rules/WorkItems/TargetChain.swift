/// The queues that a queue leads to by its target, its target's target, and so on (rule B3).
package enum TargetChain {
    /// Returns the cycle that a new target would close, from the queue back to itself; `nil` if it closes none.
    ///
    /// - Complexity: O(length of the chain).
    /// - Parameters:
    ///   - queue: the queue that gets the target.
    ///   - target: the new target.
    ///   - next: returns the present target of a queue; `nil` at the end of its chain. Must be free of cycles.
    package static func cycle<Queue: Equatable>(
        from queue: Queue, to target: Queue, next: (Queue) -> Queue?
    ) -> [Queue]? {
        var path = [queue]
        var current: Queue? = target
        while let step = current {
            path.append(step)
            if step == queue { return path }
            current = next(step)
        }
        return nil
    }
}
