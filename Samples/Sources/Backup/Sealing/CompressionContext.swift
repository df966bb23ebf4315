internal import CZstd
internal import Synchronization

/// Working memory of zstd that stays for the next blob. To make it anew takes longer than to compress a small blob.
@safe final class CompressionContext: Sendable {
    /// For as many threads as compress at a time on usual machines.
    private static let all = (0..<8).map { _ in CompressionContext() }

    // SAFETY: only the thread that set `isBusy` uses it; it lives as long as this object.
    nonisolated(unsafe) private let context = unsafe ZSTD_createCCtx()
    private let isBusy = Atomic(false)

    private init() {}

    deinit {
        unsafe ZSTD_freeCCtx(context)
    }

    /// Compresses with memory that no other thread uses now. Without one it takes new memory for the time of the call.
    ///
    /// - Returns: The number of bytes, or an error of zstd.
    static func compress(
        _ plain: UnsafeRawBufferPointer, to frame: UnsafeMutableRawBufferPointer, level: Int32
    ) -> Int {
        for one in all where !one.isBusy.exchange(true, ordering: .acquiring) {
            defer { one.isBusy.store(false, ordering: .releasing) }
            return unsafe ZSTD_compressCCtx(
                one.context, frame.baseAddress, frame.count, plain.baseAddress, plain.count, level)
        }
        return unsafe ZSTD_compress(frame.baseAddress, frame.count, plain.baseAddress, plain.count, level)
    }
}
