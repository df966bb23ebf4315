internal import Glibc

/// The system's messages for error numbers.
public enum SystemError {
    /// Returns the text of an error number, strerror_r(3), with the number. Any thread may call it.
    public static func text(_ code: Int32) -> String {
        let message = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String in
            guard let base = buffer.baseAddress, unsafe strerror_r(code, base, buffer.count) == 0 else {
                return "error"
            }
            return unsafe String(cString: base)
        }
        return "\(message) (errno \(code))"
    }
}
