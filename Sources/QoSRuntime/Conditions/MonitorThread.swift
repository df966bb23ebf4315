import QoSCore
import QoSKernel
import Synchronization

/// The thread of a monitor. It sleeps until the next reading, the next change of a duty, a wake-up, or pressure.
///
/// Sensors that may block are read by another thread.
final class MonitorThread: Sendable {
    private let core: MonitorCore
    private let watch: PressureWatch
    private let isStopped = Atomic<Bool>(false)

    /// The stall times for the kernel's reports: the limits of ``PressureState/elevated``, in two seconds.
    private static let stalls: [PressureReader.Resource: Duration] = [
        .cpu: .milliseconds(800), .memory: .milliseconds(100), .io: .milliseconds(400),
    ]

    /// - Throws: ``QoSRuntimeError/threadUnavailable(_:)`` if the system refuses a thread or a descriptor.
    init(_ core: MonitorCore, governing scheduler: QoSScheduler?) throws(QoSRuntimeError) {
        self.core = core
        let isReal = core.configuration.source == nil
        do throws(KernelError) {
            watch = try PressureWatch(isReal ? Self.stalls : [:], root: core.configuration.fileRoot)
            let thread = try Thread(name: "qos-monitor") { [self, weak scheduler] in
                scheduler?.core.applyEffects(of: .userInitiated, threadName: "qos-monitor")
                run()
            }
            thread.detach()
        } catch {
            throw .threadUnavailable("\(error)")
        }
    }

    /// The reasons why the kernel does not report pressure by itself.
    var refusals: [PressureReader.Resource: KernelError] { watch.refusals }

    /// Lets the thread read now. Any thread.
    func wake() { watch.wake() }

    /// Ends the thread after its present reading. Any thread.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        watch.wake()
    }

    private func run() {
        let interval = core.configuration.interval.clampedNanoseconds
        var nextReading: UInt64 = 0
        var triggered: Set<PressureKind> = []
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            let now = MonotonicClock.nanoseconds()
            let instant = SchedulerInstant(nanoseconds: Int64(clamping: now))
            if now >= nextReading {
                core.tick(at: instant, triggered: triggered)
                triggered = []
                nextReading = now.addingSaturating(interval)
            }
            let nextDuty = core.applyWidths(at: instant).map { UInt64($0.nanoseconds) }
            let outcome = watch.wait(until: min(nextReading, nextDuty ?? .max))
            triggered = Set(outcome.resources.map(PressureKind.init))
            if outcome.isWoken || !triggered.isEmpty { nextReading = 0 }
        }
        core.end()
    }
}

extension PressureKind {
    /// The kind of pressure on a resource.
    fileprivate init(_ resource: PressureReader.Resource) {
        switch resource {
        case .cpu: self = .cpu
        case .io: self = .io
        case .memory: self = .memory
        }
    }
}
