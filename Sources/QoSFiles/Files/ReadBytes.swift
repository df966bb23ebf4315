import QoSCore
import QoSKernel

/// The bytes of a read, which its pieces fill one after the other.
///
/// All pieces fill one array. An array for each piece would let the C library map and unmap memory again and again, which
/// holds up the other threads of the process.
///
/// Threading: one piece at a time, on any thread.
final class ReadBytes: Sendable {
    private let bytes: Lock<[UInt8]>

    /// - Parameter count: the number of bytes that are wanted. More than a piece is reserved as it comes.
    init(_ count: Int) {
        var empty: [UInt8] = []
        empty.reserveCapacity(min(count, IOGate.largestPiece))
        bytes = Lock(empty)
    }

    /// Appends a piece.
    ///
    /// - Parameters:
    ///   - count: the size of the piece.
    ///   - read: fills the memory. Returns the number of bytes, or the negated error number.
    /// - Returns: the result of `read`.
    @unsafe
    func append(_ count: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        // Not filled under the lock: a read may take long.
        var all = taken()
        var result = 0
        all.append(addingCapacity: count) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, initialized in
                let free = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized..<initialized + count])
                result = unsafe read(free)
                initialized += max(0, result)
            }
        }
        bytes.withLock { [all] in $0 = all }
        return result
    }

    /// Takes the bytes out.
    func taken() -> [UInt8] {
        bytes.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
    }
}
