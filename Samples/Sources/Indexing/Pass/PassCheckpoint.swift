/// The place of a pass from which a later pass can go on.
///
/// The database has the work itself. The checkpoint saves the second walk of the folder.
public struct PassCheckpoint: Sendable, Hashable, Codable {
    /// The opening of the index in which the pass ran. After another opening the folder may have changed unnoticed.
    let session: UInt64
    /// Whether the walk of the folder, and the removal of missing files, are over.
    public let isScanned: Bool
    /// The counts until then.
    public let report: PassReport
}
