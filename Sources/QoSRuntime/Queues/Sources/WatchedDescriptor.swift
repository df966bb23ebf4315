import QoSEventLoop
import QoSKernel

/// The watch of a descriptor's source, for the handlers that pause it and let it go on.
final class WatchedDescriptor: Sendable {
    private let state = Lock<DescriptorWatch?>(nil)

    /// The watch; `nil` before it has been made and after its end.
    var watch: DescriptorWatch? { state.withLock { $0 } }

    func set(_ watch: DescriptorWatch?) {
        state.withLock { $0 = watch }
    }
}
