import CQoSShims
import Dispatch
import Glibc
import QoSEventLoop
import QoSKernel
import Synchronization

/// Keeps `DispatchQueue.main` alive while our loop has the main thread.
///
/// libdispatch has two calls for run loops that own the main thread. CoreFoundation uses them too. One returns a
/// descriptor that becomes readable when the main queue has work, and the other runs that work.
///
/// Swift's own main executor is this queue, so the main actor's jobs and the queue's blocks have one order there: that of
/// their submission. Here the main actor has a queue of its own. Two rules give the same order. A job that comes while
/// blocks wait goes behind them, into Dispatch's queue. And the jobs in the main actor's own queue run before any block,
/// because each of them came when no block waited.
///
/// Whether blocks wait is one read of the queue's own word, which is found by a trial (``learnLayout()``). While the word
/// is not known, all jobs go through Dispatch, which costs more.
final class DispatchMainQueue: Sendable {
    private let watch = Lock<DescriptorWatch?>(nil)

    /// Whether the main thread's loop serves the queue.
    private let isServed = Atomic<Bool>(false)

    /// The address of the word that is 0 while the queue is empty; 0 while it is unknown.
    private let lastBlock = Atomic<UInt>(0)

    /// Whether a job that comes now goes behind waiting blocks. Any thread.
    @inline(__always)
    var takesJobs: Bool {
        isServed.load(ordering: .relaxed) && hasBlocks
    }

    /// Whether blocks wait, as far as is known.
    private var hasBlocks: Bool {
        let address = lastBlock.load(ordering: .relaxed)
        // SAFETY: a word of Dispatch's main queue, which lives as long as the process.
        return address == 0 || Self.word(at: address) != 0
    }

    /// Whether the jobs that came before the waiting blocks are still to be run. Main thread.
    var hasWaitingBlocks: Bool { lastBlock.load(ordering: .relaxed) != 0 && hasBlocks }

    /// Adds a call behind the waiting blocks. Any thread.
    func add(_ job: JobNode, _ run: @convention(c) (UnsafeMutableRawPointer?) -> Void) {
        unsafe cqos_dispatch_main_async(UnsafeMutableRawPointer(bitPattern: job.address), run)
    }

    /// Serves the queue on the main thread's loop, which need not run yet. Main thread.
    ///
    /// A failure is reported when the loop runs, on standard error: the program may never use the queue.
    ///
    /// - Parameter runEarlier: runs the main actor's jobs that came before the waiting blocks.
    func serve(on loop: EventLoop, runEarlier: @escaping @Sendable () -> Void) throws(EventLoopError) {
        let descriptor = dispatchMainQueueHandle()
        if !Self.isReadable(descriptor) { learnLayout() }
        isServed.store(true, ordering: .relaxed)
        try loop.submit { [self] in
            do throws(EventLoopError) {
                let made = try loop.watchDescriptor(descriptor, for: .readable) { [self] outcome in
                    guard case .success = outcome else { return }
                    var count: UInt64 = 0
                    // The descriptor is non-blocking. A wake-up that is gone already is no error.
                    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
                    runEarlier()
                    dispatchMainQueueCallback(nil)
                    if lastBlock.load(ordering: .relaxed) == 0 { learnLayout() }
                }
                watch.withLock { $0 = made }
            } catch {
                isServed.store(false, ordering: .relaxed)
                ProcessEnd.report("DispatchQueue.main cannot be served: \(error)")
            }
        }
    }

    // MARK: The queue's word

    /// The number of words of the queue's object that are looked at. The object has a cache line or two.
    private static let words = 14

    /// Finds the word with the latest block: it is 0 without blocks, and changes with each block. Adds two blocks that do
    /// nothing, and runs them. Main thread, while the queue is empty.
    private func learnLayout() {
        let empty = Self.reading
        unsafe cqos_dispatch_main_async(nil) { _ in }
        let one = Self.reading
        unsafe cqos_dispatch_main_async(nil) { _ in }
        let two = Self.reading
        dispatchMainQueueCallback(nil)
        let after = Self.reading
        let places = empty.indices.filter { place in
            empty[place] == 0 && one[place] != 0 && two[place] != 0 && one[place] != two[place] && after[place] == 0
        }
        guard places.count == 1, let place = places.first else { return }
        lastBlock.store(Self.address(of: place), ordering: .relaxed)
    }

    private static var reading: [UInt] {
        (0..<words).map { word(at: address(of: $0)) }
    }

    private static func address(of place: Int) -> UInt {
        UInt(bitPattern: unsafe cqos_dispatch_main_queue()) + UInt(place * MemoryLayout<UInt>.size)
    }

    private static func word(at address: UInt) -> UInt {
        unsafe UnsafePointer<Atomic<UInt>>(bitPattern: address).unsafelyUnwrapped.pointee
            .load(ordering: .sequentiallyConsistent)
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }
}

@_silgen_name("_dispatch_get_main_queue_handle_4CF")
private func dispatchMainQueueHandle() -> Int32

@_silgen_name("_dispatch_main_queue_callback_4CF")
private func dispatchMainQueueCallback(_ message: UnsafeMutableRawPointer?)
