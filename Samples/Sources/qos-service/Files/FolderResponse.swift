internal import Glibc
internal import SafeFiles
internal import TreeScan

/// The answer of `/files` about a folder. Keys are written in snake case.
struct FolderResponse: Encodable {
    struct Entry: Encodable {
        /// For people.
        let name: String
        /// As the parameter of the same name has it.
        let path: String
        let kind: String
        let size: Int64
        /// Seconds since 1970.
        let modified: Double
    }

    /// For people.
    let folder: String
    let complete: Bool
    let entries: [Entry]

    init(_ listing: FolderListing, of path: RelativePath) {
        folder = path.display
        complete = listing.isComplete
        entries = listing.entries.map { entry in
            Entry(
                name: RelativePath(bytes: entry.name).display, path: PathText.encoded(path.appending(entry.name)),
                kind: entry.status.kind.rawValue, size: entry.status.stamp.size,
                modified: Self.seconds(entry.status.stamp.modified))
        }
    }

    /// The seconds since 1970, to the millisecond.
    private static func seconds(_ number: Int64) -> Double {
        let time = FileTime.time(number)
        return (Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6).rounded() / 1000
    }
}
