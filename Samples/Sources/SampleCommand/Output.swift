internal import Foundation
internal import Glibc
internal import SafeFiles
internal import Synchronization

/// The error number of the first write to the standard output stream that failed; 0 if none did.
private let lostOutput = Atomic<Int32>(0)

/// Writes a line to the standard error stream. A failed write has no effect.
package func complain(_ line: String, terminator: String = "\n") {
    _ = writeAll(Array((line + terminator).utf8), to: STDERR_FILENO)
}

/// Writes a line to the standard output stream. After a failed write the command fails at its end.
package func say(_ line: String) {
    say(bytes: Array((line + "\n").utf8))
}

/// Writes bytes to the standard output stream, as `say(_:)`. Returns whether that could be done.
@discardableResult
package func say(bytes: [UInt8]) -> Bool {
    let code = writeAll(bytes, to: STDOUT_FILENO)
    if code != 0 { lostOutput.store(code, ordering: .relaxed) }
    return code == 0
}

/// Results that could not be written to the standard output stream.
package struct LostOutput: Error, CustomStringConvertible {
    let code: Int32

    /// The reason and the remedy.
    package var description: String {
        let reason = unsafe String(cString: strerror(code))
        return "The results could not be written: \(reason). Make room, or write them elsewhere."
    }

    /// The loss so far; nil if there is none. A reader that has read enough is none.
    static var current: LostOutput? {
        let code = lostOutput.load(ordering: .relaxed)
        return code == 0 || code == EPIPE ? nil : LostOutput(code: code)
    }
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    unsafe bytes.withUnsafeBytes { buffer in
        var done = 0
        while done < buffer.count {
            let count = unsafe write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            if count >= 0 {
                done += count
            } else if errno == EAGAIN {
                var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&place, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

/// Writes a value as one line of JSON.
package func sayJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    say(String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// Returns a number with its noun, in the plural if it is not one: `counted(2, "pack")` is `2 packs`.
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}

/// Returns a size in bytes as people read it.
package func size(_ bytes: Int64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
        value /= 1024
        unit += 1
    }
    return unit == 0 ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(units[unit])"
}

/// Returns a time, as `FileTime` counts it, as people read it, in UTC.
package func time(_ number: Int64) -> String { FileTime.text(number) }
