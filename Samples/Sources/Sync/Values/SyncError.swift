internal import Glibc
internal import TreeScan

/// The reason why a sync was not begun, or ended early. Its text says what to do.
public enum SyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One folder is the other one, or below it.
    case overlapping(a: String, b: String)
    /// The archive would be in one of the folders.
    case archiveInside(path: String, folder: String)
    /// The place of old versions would be in one of the folders.
    case versionsInside(path: String, folder: String)
    /// Neither a home nor a state folder is known.
    case noPlaceForArchive
    /// Another run works on the same pair of folders.
    case inUse(path: String, process: Int32)
    /// The archive is of another program, or of another pair of folders.
    case notAnArchive(path: String, detail: String)
    /// A newer program wrote the archive.
    case newerArchive(path: String, version: Int32)
    /// The archive is damaged.
    case damagedArchive(path: String, detail: String)
    /// The archive cannot be used.
    case archive(path: String, detail: String)
    /// A side is not the folder that it was.
    case otherFolder(Side, path: String, archive: String)
    /// A side has nothing, and had something at the last sync.
    case emptySide(Side, archived: Int)
    /// A side would lose too many entries.
    case tooManyDeletions(Side, count: Int, total: Int, percent: Int)
    /// A folder was replaced by another one during the run.
    case replaced(Side, path: String)
    /// The side cannot be written at all.
    case readOnly(Side)
    /// A side cannot be brought to the disk.
    case notWritten(Side, code: Int32)
    /// The agent of a side does not answer, or stopped to.
    case unreachable(Side, place: String, detail: String)
    /// The agent of a side refuses a request.
    case refused(Side, place: String, detail: String)
    /// The agent of a side answers what cannot be true.
    case wrongAnswer(Side, place: String, detail: String)
    /// The agent of a side changes nothing.
    case readOnlyAgent(Side, place: String)

    /// Whether an error says that a side is away, and may come back as it was: a disk that is not mounted, a server that
    /// does not answer.
    public static func isAway(_ error: any Error) -> Bool {
        switch error {
        case is TreeScanError: true
        case SyncError.unreachable, SyncError.replaced, SyncError.otherFolder, SyncError.emptySide: true
        case SyncError.notWritten(_, let code): awayCodes.contains(code)
        case let failure as FileSystemFailure: failure.path == .root && awayCodes.contains(failure.code)
        default: false
        }
    }

    private static let awayCodes = [EIO, ESTALE, ENODEV, ENXIO, ENOTCONN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENOENT]

    /// The failure and its remedy, in one or two sentences.
    public var description: String {
        switch self {
        case .overlapping(let a, let b):
            "\(a) and \(b) overlap. Name two folders of which none is in the other."
        case .archiveInside(let path, let folder):
            "The archive \(path) would be inside \(folder). Name a place outside of both folders with --archive."
        case .versionsInside(let path, let folder):
            "The folder \(path) for old versions would be inside \(folder). Name one outside of both with --backup-dir."
        case .noPlaceForArchive:
            "Neither XDG_STATE_HOME nor HOME is set. Name a place for the archive with --archive."
        case .inUse(let path, let process):
            "Process \(process) is syncing these folders. Wait for its end, or end it. (It holds \(path).)"
        case .notAnArchive(let path, let detail):
            "\(path) is not the archive of these folders: \(detail). Move it away, or name another place with --archive."
        case .newerArchive(let path, let version):
            "\(path) has format version \(version), which this program does not know. Use a newer program."
        case .damagedArchive(let path, let detail):
            "The archive \(path) is damaged: \(detail). Move it away: the next run compares both folders and removes "
                + "nothing in mode two-way."
        case .archive(let path, let detail):
            "The archive \(path) cannot be used: \(detail). Repair the cause and run again."
        case .otherFolder(let side, let path, let archive):
            "\(side.rawValue), \(path), is not the folder of the last run. Mount its volume. If the change is meant, "
                + "move \(archive) away."
        case .emptySide(let side, let count):
            "\(side.rawValue) is empty, and the last run left \(count) entries. Mount its volume. If the change is "
                + "meant, empty the other folder too, and move the archive away."
        case .tooManyDeletions(let side, let count, let total, let percent):
            "\(count) of \(total) entries of \(side.rawValue) would be removed: more than \(percent) %. Look at "
                + "--dry-run, and allow it with --max-delete if it is meant."
        case .replaced(let side, let path):
            "\(side.rawValue), \(path), was replaced or unmounted during the run. Nothing more was done. Run again."
        case .readOnly(let side):
            "\(side.rawValue) is on a file system that cannot be written. Mount it for writing and run again."
        case .notWritten(let side, let code):
            "\(side.rawValue) could not be brought to the disk: \(SystemError.text(code)). Check the disk and run again."
        case .unreachable(let side, let place, let detail):
            "\(side.rawValue), the agent at \(place), does not answer: \(detail). Is it running, and is the address "
                + "right? Nothing is lost: run again, and the run goes on."
        case .refused(let side, let place, let detail):
            "\(side.rawValue), the agent at \(place), refuses: \(detail)"
        case .wrongAnswer(let side, let place, let detail):
            "\(side.rawValue), the agent at \(place), gives a wrong answer: \(detail). Use the same version of qos-sync "
                + "on both machines, and check that the address leads to an agent."
        case .readOnlyAgent(let side, let place):
            "\(side.rawValue), the agent at \(place), changes nothing. Start it without --read-only, or change nothing "
                + "on A."
        }
    }
}
