/// How the process ends, sysexits(3) where it has a code.
enum ExitStatus: Int32 {
    /// Stopped in order.
    case success = 0
    /// Could not start, or could not go on.
    case failure = 1
    /// The arguments are wrong; the argument parser uses the same code.
    case usage = 64
    /// The folder is missing or cannot be read.
    case noInput = 66
}
