package import SafeFiles
package import TreeScan

/// A folder of another machine. Contents go there and come back by steps, and are compared by their digests.
package protocol DistantReplica: Replica {
    /// Writes a file of this machine under a temporary name there.
    ///
    /// - Parameter progress: Called after each part that is on the disk there, if the order asks for that.
    /// - Throws: `FileSystemFailure` of either side, and `SyncError`.
    func send(
        _ order: SendOrder, from source: OpenDescriptor, progress: (SendProgress) throws -> Void
    ) async throws -> SendResult

    /// Writes a file from there into one of this machine.
    ///
    /// - Parameter progress: Called after each piece, with the place behind it.
    /// - Throws: `FileSystemFailure` of either side, with `ESTALE` if the file is not as it was seen, and `SyncError`.
    func receive(
        _ order: ReceiveOrder, into output: OpenDescriptor, progress: (Int64) throws -> Void
    ) async throws -> ReceiveResult
}

/// A file that is sent.
package struct SendOrder: Sendable {
    /// The path of the file.
    package var path: RelativePath
    /// The temporary name in the folder of the path.
    package var temporary: [UInt8]
    /// The length of the file, in bytes.
    package var size: Int64
    /// The number of bytes that are there already.
    package var start: Int64
    package var metadata: Metadata
    /// The old version under the name.
    package var former: Observation?
    /// The bytes of one part, if each is put on the disk before the next one.
    package var durablePart: Int64?
    /// The extended attributes, and no others; nil to leave them.
    package var attributes: AttributeSet?
    /// The bytes from `start` on that are no hole.
    package var room: Int64?
}

/// The state of a file that is sent in parts.
package struct SendProgress: Sendable {
    /// The number of bytes on the disk.
    package var done: Int64
    /// The temporary file.
    package var inode: UInt64

    package init(done: Int64, inode: UInt64) {
        self.done = done
        self.inode = inode
    }
}

/// A file that was sent.
package struct SendResult: Sendable {
    package var status: EntryStatus
    /// The number of bytes that came from the old version.
    package var reused: Int64
    /// The SHA-256 of the content.
    package var digest: [UInt8]
    /// The names of the extended attributes that it lacks.
    package var lost: [[UInt8]] = []

    package init(status: EntryStatus, reused: Int64, digest: [UInt8]) {
        self.status = status
        self.reused = reused
        self.digest = digest
    }
}

/// A file that is received.
package struct ReceiveOrder: Sendable {
    /// The file as it was seen.
    package var source: Observation
    /// The number of bytes that are there already.
    package var start: Int64
    /// The old version.
    package var former: OpenDescriptor?
}

/// A file that was received.
package struct ReceiveResult: Sendable {
    /// The file over there, at the beginning and at the end.
    package var stamp: FileStamp
    /// The time right before that, by the clock over there.
    package var time: Int64
    /// The number of bytes that came from the old version.
    package var reused: Int64
    /// The SHA-256 of the content.
    package var digest: [UInt8]
    /// The extended attributes; nil if they are not known, or the file system over there has none.
    package var attributes: AttributeSet?

    package init(stamp: FileStamp, time: Int64, reused: Int64, digest: [UInt8]) {
        self.stamp = stamp
        self.time = time
        self.reused = reused
        self.digest = digest
    }
}
