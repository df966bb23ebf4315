internal import Glibc
internal import Synchronization

/// The right to write in a folder that its owner has taken from themselves, for as long as a run needs it.
///
/// A user who sets a folder to 0555 still wants it in step, or restored. The owner may give the right back at any time,
/// so a run takes it when the first call fails, and returns it at the end. Threads may share it. A run that is killed
/// meanwhile leaves the right with the owner, unless the note of the loan tells a later one.
public final class LentRights: Sendable {
    /// The mode before the loan.
    private let loan = Mutex<UInt32?>(nil)
    private let note: @Sendable (_ mode: UInt32) -> Void

    /// Makes an object that has lent nothing.
    ///
    /// - Parameter note: Called with the mode of the folder right before the right is lent.
    public init(note: @escaping @Sendable (_ mode: UInt32) -> Void = { _ in }) {
        self.note = note
    }

    /// Gives a folder the mode that it had before a loan, if nobody has set another one since then.
    public static func giveBack(_ folder: Int32, mode: UInt32) {
        var status = stat()
        guard unsafe fstat(folder, &status) == 0, status.st_mode & 0o7777 == mode_t(mode | 0o300) else { return }
        _ = fchmod(folder, mode_t(mode))
    }

    /// Runs a call of the system, and once more if only the owner's missing right to write let it fail.
    ///
    /// - Parameters:
    ///   - folder: The descriptor of the folder in which the call works.
    ///   - call: Returns a negative number on failure, with `errno` set.
    public func retrying(in folder: Int32, _ call: () -> Int32) -> Int32 {
        let result = call()
        guard result < 0, errno == EACCES else { return result }
        guard lend(folder) else {
            errno = EACCES
            return result
        }
        return call()
    }

    private func lend(_ folder: Int32) -> Bool {
        loan.withLock { loan in
            var status = stat()
            guard unsafe fstat(folder, &status) == 0, status.st_uid == geteuid() else { return false }
            let mode = status.st_mode & 0o7777
            // Another thread may have lent it already, or another object has given it back meanwhile.
            guard mode & 0o300 != 0o300 else { return true }
            note(UInt32(mode))
            guard fchmod(folder, mode | 0o300) == 0 else { return false }
            if loan == nil { loan = UInt32(mode) }
            return true
        }
    }

    /// Gives the right back, if it was lent, and nobody has set other rights since then.
    public func giveBack(_ folder: Int32) {
        loan.withLock { loan in
            if let before = loan.take() { Self.giveBack(folder, mode: before) }
        }
    }
}
