/// The exit status of the process, from sysexits(3) if it has a code.
enum ExitStatus: Int32 {
    /// Stopped in order.
    case success = 0
    /// Could not start, or could not go on.
    case failure = 1
    /// The arguments are wrong. The argument parser uses the same code.
    case usage = 64
    /// The folder is missing or cannot be read.
    case noInput = 66
}
