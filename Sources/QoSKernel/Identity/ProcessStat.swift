/// The fields of `/proc/PID/stat` that identify a process (proc_pid_stat(5)).
struct ProcessStat: Sendable, Hashable {
    /// The number of the process.
    let number: Int32
    /// The time of its start, in clock ticks since the start of the machine.
    let start: UInt64
    /// Whether it has ended, and waits for its parent.
    ///
    /// The first thread of a process may end before the others. Then the process goes on, although its state is Z.
    let hasEnded: Bool

    /// Reads the text of the file; `nil` if it makes no sense.
    init?(_ text: String) {
        // The name, in parentheses, may contain anything. After it comes the third field.
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"),
            let number = Int32(text[..<open].filter { !$0.isWhitespace })
        else { return nil }
        let fields = text[close...].dropFirst().split(whereSeparator: \.isWhitespace)
        guard fields.count > 19, let threads = Int(fields[17]), let start = UInt64(fields[19]) else { return nil }
        self.number = number
        self.start = start
        hasEnded = ["Z", "X", "x"].contains(fields[0]) && threads <= 1
    }
}
