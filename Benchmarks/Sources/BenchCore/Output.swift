import Glibc

/// Lines on standard output and standard error, unbuffered, from any thread.
public enum Output {
    /// A line of results.
    public static func line(_ text: String) {
        write(text, to: 1)
    }

    /// Prints a line for the person at the terminal.
    public static func note(_ text: String) {
        write(text, to: 2)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // Nobody reads any more: there is no place left to say so.
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
