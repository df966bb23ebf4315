import Dispatch
import Glibc

extension Scenario {
    /// Says that it is ready, and waits for signals.
    func signals() async throws {
        switch self {
        case .cleansUpAfterSignal:
            Driver.say("ready", "yes")
            try? await Task.sleep(for: .seconds(3_600))
            Driver.say("cancelled", Task.isCancelled)
        case .signalsItselfAtOnce:
            kill(getpid(), SIGTERM)
            try await Task.sleep(for: .seconds(3_600))
        case .ignoresSignals:
            Driver.say("ready", "yes")
            await withTaskCancellationHandler {
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            } onCancel: {
                Driver.say("cancelled", "yes")
            }
        case .signalWhileMainActorIsBusy:
            let released = DispatchSemaphore(value: 0)
            await withTaskCancellationHandler {
                await MainActor.run {
                    Driver.say("ready", "yes")
                    released.wait()
                }
            } onCancel: {
                released.signal()
            }
            try Task.checkCancellation()
        default:
            Driver.say("ready", "yes")
            try await Task.sleep(for: .seconds(3_600))
        }
    }
}
