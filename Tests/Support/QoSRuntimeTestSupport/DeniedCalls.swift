internal import Foundation
internal import Glibc
internal import QoSKernel
internal import QoSKernelTestSupport
package import QoSRuntime

/// The whole suite once more as a process sees it that may schedule nothing: with `QOS_TEST_SCHEDULING_CALLS=denied`
/// (each call fails with EPERM but for those that make and name threads) or `=none` (no privilege, simulated) every
/// scheduler of ``withScheduler(_:fileID:filePath:line:column:_:)`` that names no calls of its own applies kernel
/// effects through such calls.
package enum DeniedCalls {
    /// A configuration with the calls that the environment asks for; unchanged where it asks for none.
    package static func applied(to configuration: QoSScheduler.Configuration) -> QoSScheduler.Configuration {
        var configuration = configuration
        guard configuration.schedulingCalls == nil, let calls = made() else { return configuration }
        configuration.appliesKernelEffects = true
        configuration.schedulingCalls = calls
        return configuration
    }

    private static func made() -> (any SchedulingCalls)? {
        switch ProcessInfo.processInfo.environment["QOS_TEST_SCHEDULING_CALLS"] {
        case "denied":
            let calls = FaultInjectingSchedulingCalls()
            // Threads are made and named by anybody, and by the names the tests know the pools.
            let allowed: Set<KernelCall> = [.createThread, .setName, .getName]
            calls.deny(KernelCall.allCases.filter { !allowed.contains($0) }, with: EPERM)
            return calls
        case "none":
            return SimulatedSchedulingCalls(rights: .none)
        default:
            return nil
        }
    }
}
