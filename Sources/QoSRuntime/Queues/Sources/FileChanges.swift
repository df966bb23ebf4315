import QoSEventLoop

/// The changes to a watched file or directory since the last call. They are hints, to be followed by a look.
public struct FileChanges: Sendable, Hashable {
    /// The number of different names that are kept at most.
    public static let maximumNames = 256

    /// Whether a name came, went or was given to another file.
    public internal(set) var renamed = false

    /// Whether contents or attributes changed.
    public internal(set) var changed = false

    /// The last components of the changed paths, as far as the kernel names them.
    public internal(set) var names: Set<String> = []

    /// Whether more names changed than ``names`` holds: look at everything.
    public internal(set) var hasMoreNames = false

    /// The message of a broken watch; no more events come. `nil` while the watch works.
    public internal(set) var failure: String?

    func merged(with later: FileChanges) -> FileChanges {
        var merged = self
        merged.renamed = renamed || later.renamed
        merged.changed = changed || later.changed
        merged.hasMoreNames = hasMoreNames || later.hasMoreNames
        for name in later.names where !merged.names.contains(name) {
            if merged.names.count < Self.maximumNames { merged.names.insert(name) } else { merged.hasMoreNames = true }
        }
        merged.failure = later.failure ?? failure
        return merged
    }
}

extension FileChanges {
    init(_ outcome: FileWatch.Outcome) {
        switch outcome {
        case .failure(let error): failure = error.description
        case .success(let event):
            renamed = event.kinds.contains(.rename)
            changed = event.kinds.contains(.change)
            if let name = event.name { names = [name] }
        }
    }
}
