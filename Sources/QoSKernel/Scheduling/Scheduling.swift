/// The arguments of one sched_setattr(2) call: policy, nice and slice.
///
/// They go together: with the flags that keep one of them the kernel ignores the slice.
package struct Scheduling: Sendable, Hashable {
    /// The nice values there are, from the most to the least favoured.
    package static let niceRange = -20...19

    /// The slices the kernel accepts, in nanoseconds: 0.1 ms to 100 ms.
    package static let sliceRange: ClosedRange<UInt64> = 100_000...100_000_000

    /// The kernel's rule for choosing the thread.
    package var policy: SchedulingPolicy

    /// −20…19. Ignored when set together with a policy that is not fair; the thread keeps the one it has.
    package var nice: Int

    /// The thread's run time before the kernel looks for another thread, in nanoseconds (``sliceRange``).
    ///
    /// Setting `nil` returns to the kernel's own; read, it is the one in force, or `nil` if the kernel has none to
    /// show (before Linux 6.12). Ignored when set together with a policy that is not fair.
    package var slice: UInt64?

    /// Puts the three together; ranges are checked when they are set.
    package init(policy: SchedulingPolicy, nice: Int = 0, slice: UInt64? = nil) {
        self.policy = policy
        self.nice = nice
        self.slice = slice
    }

    /// Whether all three are in their ranges.
    var isSettable: Bool {
        policy.isSettable && Self.niceRange ~= nice && slice.map { Self.sliceRange ~= $0 } ?? true
    }
}

extension Scheduling: CustomStringConvertible {
    /// `OTHER, nice 10, slice 100000 ns`.
    package var description: String {
        "\(policy), nice \(nice)" + (slice.map { ", slice \($0) ns" } ?? "")
    }
}
