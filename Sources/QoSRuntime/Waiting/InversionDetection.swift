package import QoSCore
import QoSKernel
import Synchronization

/// Where reports of waits go (rule I5): to nobody, unless somebody listens.
///
/// Locks belong to the process and not to a scheduler, and so does this. Unused it costs one load on paths that are about to sleep.
package enum InversionDetection {
    /// Names a listener, to take it back.
    package struct Token: Sendable, Hashable {
        fileprivate let number: UInt64
    }

    private struct Listeners {
        var lastNumber: UInt64 = 0
        var all: [UInt64: @Sendable (InversionReport) -> Void] = [:]
    }

    private static let listeners = Lock(Listeners())
    private static let count = Atomic(0)

    /// Whether anybody listens; one load.
    package static var isOn: Bool { count.load(ordering: .relaxed) > 0 }

    /// Begins to tell a listener. Any thread.
    ///
    /// - Parameter listener: called on the thread that is about to wait, before it does, with no lock held; short.
    package static func listen(_ listener: @escaping @Sendable (InversionReport) -> Void) -> Token {
        let number = listeners.withLock { listeners in
            listeners.lastNumber += 1
            listeners.all[listeners.lastNumber] = listener
            return listeners.lastNumber
        }
        count.add(1, ordering: .relaxed)
        return Token(number: number)
    }

    /// Stops telling a listener; it may be called once more by a report that is on its way. Any thread, once for each token.
    package static func stop(_ token: Token) {
        let removed = listeners.withLock { $0.all.removeValue(forKey: token.number) }
        if removed != nil { count.subtract(1, ordering: .relaxed) }
    }

    /// Reports that the calling thread is about to sleep until something ends that somebody else runs, if it is a pool's.
    ///
    /// - Parameters:
    ///   - resource: what it waits for is called.
    ///   - holder: who has to end that, and at which level it runs.
    ///   - remedy: what would not take a worker from its class.
    package static func reportSleep(for resource: String, holder: String, at level: QoSLevel?, remedy: String) {
        guard isOn, unsafe Worker.current != nil else { return }
        report {
            InversionReport(
                kind: .blockedPoolThread,
                waiter: .init(name: LockParty.callingThread.name, level: QoS.currentLevel),
                resource: resource, holder: .init(name: holder, level: level), since: .now, explanation: remedy)
        }
    }

    /// Tells the listeners; the report is made only if there are any.
    static func report(_ make: () -> InversionReport) {
        guard isOn else { return }
        let report = make()
        for listener in listeners.withLock({ Array($0.all.values) }) { listener(report) }
    }
}
