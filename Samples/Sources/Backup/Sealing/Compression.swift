internal import CZstd

/// Compresses with zstd, unless it gains nothing. A byte in front says which: 0 as it is, 1 zstd.
enum Compression {
    private static let level: Int32 = 3
    private static let sample = 4096

    /// Any thread may call it.
    static func pack(_ plain: [UInt8]) -> [UInt8] {
        if isWorthwhile(plain), let packed = compress(plain[...], level: level), packed.count <= plain.count {
            return packed
        }
        return [0] + plain
    }

    /// Returns nil if the bytes are malformed, or longer than `limit` after decompression.
    static func unpack(_ packed: [UInt8], limit: Int) -> [UInt8]? {
        switch packed.first {
        case 0: packed.count - 1 <= limit ? Array(packed.dropFirst()) : nil
        case 1: decompress(packed.dropFirst(), limit: limit)
        default: nil
        }
    }

    /// Looks at three samples of a long text: noise, and what is compressed already, does not get smaller.
    private static func isWorthwhile(_ plain: [UInt8]) -> Bool {
        guard plain.count > 4 * sample else { return plain.count > 32 }
        return [0, (plain.count - sample) / 2, plain.count - sample].contains { start in
            guard let packed = compress(plain[start..<(start + sample)], level: 1) else { return true }
            return packed.count <= sample - sample / 32
        }
    }

    /// Returns the byte in front and the frame.
    private static func compress(_ plain: ArraySlice<UInt8>, level: Int32) -> [UInt8]? {
        var isDone = false
        let room = 1 + ZSTD_compressBound(plain.count)
        let packed = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            unsafe buffer[0] = 1
            let frame = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[1...])
            let result = unsafe plain.withUnsafeBytes {
                unsafe CompressionContext.compress($0, to: frame, level: level)
            }
            isDone = ZSTD_isError(result) == 0
            count = isDone ? 1 + result : 0
        }
        return isDone ? packed : nil
    }

    private static func decompress(_ packed: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
        let size = unsafe packed.withUnsafeBytes { unsafe ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        guard size <= UInt64(limit) else { return nil }
        var isDone = false
        let plain = unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            let result = unsafe packed.withUnsafeBytes { source in
                unsafe ZSTD_decompress(buffer.baseAddress, buffer.count, source.baseAddress, source.count)
            }
            isDone = ZSTD_isError(result) == 0 && result == Int(size)
            count = isDone ? result : 0
        }
        return isDone ? plain : nil
    }
}
