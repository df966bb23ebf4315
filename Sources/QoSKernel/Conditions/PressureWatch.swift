internal import CQoSShims
internal import Glibc

/// Lets one thread sleep until a time, a wake-up or pressure.
///
/// It has a trigger for each resource for which the kernel allows one; ``refusals`` says why the others are missing. A
/// trigger whose source goes away is no longer waited for.
///
/// Threading: one thread waits; any thread wakes it.
package final class PressureWatch: Sendable {
    /// The end of a wait.
    package struct Outcome: Sendable, Equatable {
        /// The resources that threads waited for, as the kernel says.
        package var resources: Set<PressureReader.Resource>
        /// Whether ``PressureWatch/wake()`` was called.
        package var isWoken: Bool

        package init(resources: Set<PressureReader.Resource> = [], isWoken: Bool = false) {
            self.resources = resources
            self.isWoken = isWoken
        }
    }

    /// An event descriptor, which ``wake()`` makes readable.
    private let event: Int32
    private let triggers: [PressureReader.Resource: SharedTrigger]
    private let broken = Lock<Set<PressureReader.Resource>>([])

    /// The reasons why there is no trigger for a resource.
    package let refusals: [PressureReader.Resource: KernelError]

    /// A trigger that a table can hold.
    private final class SharedTrigger: Sendable {
        let trigger: PressureTrigger

        init(_ trigger: consuming PressureTrigger) {
            self.trigger = trigger
        }
    }

    /// Makes a watch.
    ///
    /// - Parameters:
    ///   - stalls: the resources to watch, with the time of two seconds in which at least one thread waits.
    ///   - root: where `proc` is.
    /// - Throws: `eventfd` when the process has no descriptor left. A missing trigger is no error.
    package init(_ stalls: [PressureReader.Resource: Duration], root: FileRoot = .real) throws(KernelError) {
        event = cqos_make_event()
        guard event >= 0 else { throw KernelError(.makeEvent, code: event, subject: "the watch of pressure") }
        var triggers: [PressureReader.Resource: SharedTrigger] = [:]
        var refusals: [PressureReader.Resource: KernelError] = [:]
        for (resource, stall) in stalls {
            do throws(KernelError) {
                triggers[resource] = SharedTrigger(try PressureTrigger(resource, stall: stall, root: root))
            } catch {
                refusals[resource] = error
            }
        }
        self.triggers = triggers
        self.refusals = refusals
    }

    deinit {
        close(event)
    }

    /// Ends the present wait, or the next one. Any thread.
    package func wake() {
        var one: UInt64 = 1
        // A counter that is full wakes the thread, too.
        _ = unsafe write(event, &one, MemoryLayout<UInt64>.size)
    }

    /// Sleeps until a time, a call of ``wake()`` or pressure.
    ///
    /// - Parameter time: nanoseconds of ``MonotonicClock``.
    package func wait(until time: UInt64) -> Outcome {
        var outcome = Outcome()
        let lost = broken.withLock { $0 }
        let watched = triggers.filter { !lost.contains($0.key) }
        var descriptors = [pollfd(fd: event, events: Int16(POLLIN), revents: 0)]
        let resources = Array(watched.keys)
        for resource in resources {
            descriptors.append(
                pollfd(fd: watched[resource]?.trigger.descriptor ?? -1, events: Int16(POLLPRI), revents: 0))
        }
        while true {
            let now = MonotonicClock.nanoseconds()
            let milliseconds = time <= now ? 0 : (time - now - 1) / 1_000_000 + 1
            let count = unsafe poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: milliseconds))
            if count < 0, errno == EINTR { continue }
            if count == 0, MonotonicClock.nanoseconds() < time { continue }
            break
        }
        if descriptors[0].revents != 0 {
            outcome.isWoken = true
            var count: UInt64 = 0
            _ = unsafe read(event, &count, MemoryLayout<UInt64>.size)
        }
        for (index, resource) in resources.enumerated() {
            let events = descriptors[index + 1].revents
            if events & Int16(POLLPRI) != 0 { outcome.resources.insert(resource) }
            if events & Int16(POLLERR | POLLNVAL | POLLHUP) != 0 { broken.withLock { _ = $0.insert(resource) } }
        }
        return outcome
    }
}
