import Dispatch
import Glibc
import QoSEventLoop
import QoSKernel

/// Keeps `DispatchQueue.main` alive while our loop has the main thread.
///
/// libdispatch has two calls for run loops that own the main thread. CoreFoundation uses them too. One returns a
/// descriptor that becomes readable when the main queue has work, and the other runs that work.
final class DispatchMainQueue: Sendable {
    private let watch = Lock<DescriptorWatch?>(nil)

    /// Serves the queue on the main thread's loop, which need not run yet. Main thread.
    ///
    /// A failure is reported when the loop runs, on standard error: the program may never use the queue.
    func serve(on loop: EventLoop) throws(EventLoopError) {
        let descriptor = dispatchMainQueueHandle()
        try loop.submit { [self] in
            do throws(EventLoopError) {
                let made = try loop.watchDescriptor(descriptor, for: .readable) { outcome in
                    guard case .success = outcome else { return }
                    var count: UInt64 = 0
                    // The descriptor is non-blocking. A wake-up that is gone already is no error.
                    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
                    dispatchMainQueueCallback(nil)
                }
                watch.withLock { $0 = made }
            } catch {
                ProcessEnd.report("DispatchQueue.main cannot be served: \(error)")
            }
        }
    }
}

@_silgen_name("_dispatch_get_main_queue_handle_4CF")
private func dispatchMainQueueHandle() -> Int32

@_silgen_name("_dispatch_main_queue_callback_4CF")
private func dispatchMainQueueCallback(_ message: UnsafeMutableRawPointer?)
