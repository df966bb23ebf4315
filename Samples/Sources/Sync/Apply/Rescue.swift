internal import Glibc
internal import TreeScan

/// Gives an entry under a temporary name a name that people find: it turned out to be one that nobody has seen.
enum Rescue {
    /// Gives it a name as in a conflict. Returns the name for people.
    static func keep(
        _ temporary: [UInt8], of path: RelativePath, on side: Side, in folder: any ReplicaFolder, date: String
    ) async throws -> String {
        var taken: Set<RelativePath> = []
        while true {
            let name = ConflictName.make(for: path, of: side, date: date) { taken.contains($0) }
            do {
                try await folder.rename(temporary, to: Array(name.name), in: folder)
                return name.display
            } catch let error as FileSystemFailure {
                guard error.code == EEXIST else { throw error }
                taken.insert(name)
            }
        }
    }

    /// Gives it its own name back, or one as in a conflict if that is taken. Returns the name for people.
    static func restore(
        _ temporary: [UInt8], of path: RelativePath, on side: Side, in folder: any ReplicaFolder, date: String
    ) async throws -> String {
        do {
            try await folder.rename(temporary, to: Array(path.name), in: folder)
            return path.display
        } catch let error as FileSystemFailure {
            guard error.code == EEXIST else { throw error }
            return try await keep(temporary, of: path, on: side, in: folder, date: date)
        }
    }
}
