internal import Glibc
import QoSCore
import QoSKernel
public import QoSRuntime

/// The entries below a directory, in the order of their paths; a directory comes before its entries.
///
/// ```swift
/// for try await entry in FolderWalk("/srv/photos") where entry.kind == .regular {
///     try await index(entry.path)
/// }
/// ```
///
/// Symbolic links are listed and not followed. A directory is one piece of I/O. An entry that cannot be read, or whose
/// name is not UTF-8, has an ``Entry/error``, and the walk continues. A directory that is removed meanwhile is left out.
public struct FolderWalk: AsyncSequence, Sendable {
    /// The kind of an entry.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice, unknown
    }

    /// An entry of a directory.
    public struct Entry: Sendable, Hashable {
        /// The path: that of the walk, and the names below it. Bytes of a name that are not UTF-8 are replaced; such a
        /// path leads to no file, and there is an ``error``.
        public let path: String
        /// The kind; of a symbolic link, not of its target.
        public let kind: Kind
        /// The reason why the entries of this directory are missing, or why the path does not lead to the entry; `nil`
        /// for most entries.
        public let error: FileError?
    }

    /// An entry of the tree.
    public typealias Element = Entry

    private let path: String
    private let throttle: IOThrottle

    /// Walks through a directory.
    ///
    /// - Parameters:
    ///   - path: a directory, or a symbolic link to one.
    ///   - throttle: decides when each piece may begin.
    public init(_ path: String, throttle: IOThrottle = .process) {
        self.path = path
        self.throttle = throttle
    }

    /// Begins the walk.
    public func makeAsyncIterator() -> Iterator { Iterator(path, throttle) }

    /// A place in the walk.
    public struct Iterator: AsyncIteratorProtocol {
        private let throttle: IOThrottle
        private let top: String
        private var hasBegun = false
        /// The entries that come next, the last one first. A directory is read when it is reached.
        private var pending: [(path: String, kind: Kind, isText: Bool)] = []

        fileprivate init(_ path: String, _ throttle: IOThrottle) {
            self.throttle = throttle
            var path = path
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            top = path
        }

        /// Returns the next entry; `nil` at the end.
        ///
        /// - Throws: ``FileError`` if the top directory cannot be read; `CancellationError`.
        public mutating func next() async throws -> Entry? {
            if !hasBegun {
                hasBegun = true
                try FileError.check(path: top, for: "opendir")
                if let error = try await read(top, following: true) { throw error }
            }
            while let (path, kind, isText) = pending.popLast() {
                guard isText else {
                    let error = FileError("readdir", EILSEQ, path: path, detail: "the name is not UTF-8")
                    return Entry(path: path, kind: kind, error: error)
                }
                guard kind == .directory else { return Entry(path: path, kind: kind, error: nil) }
                let error = try await read(path, following: false)
                if error?.code == .notFound { continue }
                return Entry(path: path, kind: kind, error: error)
            }
            return nil
        }

        /// Reads a directory, and puts its entries before the others.
        private mutating func read(_ path: String, following: Bool) async throws -> FileError? {
            let (result, entries) = try await throttle.perform(bytes: 0) { _ throws in
                FolderReader.read(path, following: following)
            }
            guard result == 0 else { return FileError("opendir", result, path: path) }
            let prefix = path == "/" ? "/" : path + "/"
            pending += entries.reversed().map { (prefix + $0.name, Kind($0.kind), $0.isText) }
            return nil
        }
    }
}

extension FolderWalk.Kind {
    fileprivate init(_ kind: FileStatus.Kind) {
        self =
            switch kind {
            case .regular: .regular
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .fifo: .fifo
            case .socket: .socket
            case .characterDevice: .characterDevice
            case .blockDevice: .blockDevice
            case .unknown: .unknown
            }
    }
}
