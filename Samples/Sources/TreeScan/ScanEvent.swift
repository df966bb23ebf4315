/// What a scan found next.
public enum ScanEvent: Hashable, Sendable {
    /// A folder that is entered now.
    case folder(RelativePath)

    /// A regular file with the stamp it had at this moment.
    case file(RelativePath, FileStamp)

    /// Something that is not read: a link, pipe, socket, device, or a folder that the options leave out.
    case leftOut(RelativePath, FileKind)

    /// An entry, or a folder with everything below it, that could not be looked at.
    case failure(FileSystemFailure)
}
