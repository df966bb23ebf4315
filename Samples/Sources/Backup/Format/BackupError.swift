internal import Glibc
internal import TreeScan

/// The reason why a command on a repository failed. Its text says what to do.
public enum BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder has no repository.
    case notARepository(path: String)
    /// The folder of a new repository is not empty.
    case notEmpty(path: String)
    /// A newer program wrote the repository.
    case newerFormat(path: String, version: Int)
    /// The passphrase does not open the key.
    case wrongPassphrase(path: String)
    /// The passphrase of a new repository is empty.
    case emptyPassphrase
    /// A file of the repository is not as it was written.
    case damaged(path: String, detail: String)
    /// The disk, or the quota, is full.
    case noSpace(path: String)
    /// The address of a repository in storage of S3 cannot be read.
    case badAddress(String, detail: String)
    /// The environment has no keys for storage of S3.
    case noCredentials(variable: String)
    /// Storage of S3 refuses a request for good.
    case refused(place: String, detail: String)
    /// Storage of S3 does not answer, or cannot.
    case unreachable(place: String, detail: String)
    /// A system call failed.
    case failed(path: String, operation: String, code: Int32)
    /// No snapshot, or more than one, has a name that begins in this way.
    case unknownSnapshot(String, matches: Int)
    /// A snapshot cannot be read, so the last one is not known.
    case latestIsUnknown(detail: String)
    /// The snapshots are of several folders or machines, and none is named.
    case latestIsAmbiguous(places: [String])
    /// The repository has no such key, or more than one.
    case unknownKey(String, matches: Int)
    /// The last key of a repository may not go.
    case lastKey
    /// The entry is no regular file.
    case notAFile(String)
    /// The snapshot has no entry at the path.
    case unknownPath(String)
    /// The lease ran out, and another run may have removed blobs.
    case leaseLost
    /// Another run prunes the repository.
    case pruneIsRunning
    /// Something is missing or damaged, so nothing may be removed.
    case unsafeToPrune(detail: String)

    /// The failure and its remedy, in one or two sentences.
    public var description: String {
        switch self {
        case .notARepository(let path):
            "\(path) is not a repository: it has no file 'repository'. Check the path, or run 'init' first."
        case .notEmpty(let path):
            "\(path) is not empty. Name a new or empty folder for the repository."
        case .newerFormat(let path, let version):
            "\(path) has format version \(version), and this program knows version 1. Use a newer program."
        case .wrongPassphrase(let path):
            "The passphrase does not open \(path). Try again with the passphrase that was given to 'init'."
        case .emptyPassphrase:
            "The passphrase is empty. Choose one, and keep it: nobody can restore without it."
        case .damaged(let path, let detail):
            "\(path) is damaged: \(detail). Run 'check --read-data', and restore the file from a copy of the repository."
        case .noSpace(let path):
            "No space is left for \(path). Free some on its disk and run again: what is written already is used. "
                + "For a repository, 'forget' and then 'prune' free space, also on a full disk."
        case .badAddress(let text, let detail):
            "\(text) is no address of a repository: \(detail). Write s3:https://HOST[:PORT]/BUCKET/PREFIX."
        case .noCredentials(let variable):
            "There are no keys for the storage: \(variable) is not set. Set AWS_ACCESS_KEY_ID and "
                + "AWS_SECRET_ACCESS_KEY, and AWS_REGION if it is not us-east-1."
        case .refused(let place, let detail): "\(place): \(detail)."
        case .unreachable(let place, let detail):
            "\(place) cannot be reached: \(detail). Check the network and the address, and run again: what is written "
                + "already is used."
        case .failed(let path, let operation, let code):
            code == EACCES
                ? "\(operation) \(path): \(SystemError.text(code)). If another user, such as root, made files of the "
                    + "repository, give them back: 'chown -R USER' on its folder, as root."
                : "\(operation) \(path): \(SystemError.text(code)). Repair the cause and run again."
        case .unknownSnapshot(let text, let matches):
            matches == 0
                ? "There is no snapshot '\(text)'. 'snapshots' lists them; 'latest' is the last one."
                : "\(matches) snapshots begin with '\(text)'. Give more digits; 'snapshots' lists them."
        case .latestIsUnknown(let detail):
            "A snapshot cannot be read, and may be the last one: \(detail) Give a name instead of 'latest': "
                + "'snapshots' lists them."
        case .latestIsAmbiguous(let places):
            "The snapshots are of several folders: \(places.prefix(5).joined(separator: ", "))"
                + "\(places.count > 5 ? " and others" : ""). Name one with --folder or --host, or give the name of a "
                + "snapshot instead of 'latest'."
        case .unknownKey(let text, let matches):
            matches == 0
                ? "There is no key '\(text)'. 'key list' lists them."
                : "\(matches) keys begin with '\(text)'. Give more digits; 'key list' lists them."
        case .lastKey:
            "This is the only key of the repository, or the one that opened it. Add another one first, and use that."
        case .notAFile(let path):
            "\(path) is no regular file. 'restore --path' writes other entries."
        case .unknownPath(let path):
            "The snapshot has no entry \(path). 'ls' lists its entries."
        case .leaseLost:
            "The lease of this run ran out, so a prune may have removed what it counted on. Run again: "
                + "what is written already is used."
        case .pruneIsRunning:
            "Another prune is running on this repository. Run again after its end; a killed one ends by itself."
        case .unsafeToPrune(let detail):
            "Nothing was removed, because the repository is not whole: \(detail). Run 'check', and mend it first."
        }
    }

    /// Makes the error of a system call from `errno`.
    static func system(_ operation: String, _ path: String, code: Int32 = errno) -> BackupError {
        code == ENOSPC || code == EDQUOT ? .noSpace(path: path) : .failed(path: path, operation: operation, code: code)
    }
}
