/// The next event of a scan.
public enum ScanEvent: Hashable, Sendable {
    /// A folder that is entered now.
    case folder(RelativePath)

    /// A regular file with its stamp at this moment.
    case file(RelativePath, FileStamp)

    /// An entry that is not read: a link, pipe, socket, device, or one that the options or an ignore file leave out.
    case leftOut(RelativePath, FileKind)

    /// An unreadable entry, or an unreadable folder with everything below it.
    case failure(FileSystemFailure)
}
