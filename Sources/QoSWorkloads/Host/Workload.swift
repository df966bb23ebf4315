/// Durable background work: the code for all items of a name.
///
/// ```swift
/// struct Thumbnails: Workload {
///     static let name: WorkloadName = "thumbnails"
///     struct Parameters: Codable, Sendable { var folder: String }
///     struct Checkpoint: Codable, Sendable { var done = 0 }
///
///     func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
///         …
///     }
/// }
/// ```
public protocol Workload: Sendable {
    /// The input of an item. It is stored as JSON.
    associatedtype Parameters: Codable & Sendable
    /// The place up to which an item's work is done. It is stored as JSON.
    associatedtype Checkpoint: Codable & Sendable = NoCheckpoint

    /// The name, the same for as long as items with it are stored.
    static var name: WorkloadName { get }

    /// The version of the parameters and checkpoints that this code writes, from 1. It reads them, and those before.
    ///
    /// Raise it with each change that older code cannot read. While two versions of a program run, hosts of the older
    /// one leave items with newer parameters alone, as they do with unknown workloads.
    static var version: Int { get }

    /// The longest duration of an attempt; `nil` for none. After it the attempt is cancelled, and counts as failed.
    var timeLimit: Duration? { get }

    /// Does the work of an item, from the context's checkpoint on.
    ///
    /// A thrown error counts as a failed attempt. A call may repeat work that was done since the last checkpoint.
    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome

    /// Makes a checkpoint of one that an older version has stored, and that no longer decodes.
    ///
    /// - Returns: `nil` to start again from the beginning.
    func migrate(checkpoint json: String) throws -> Checkpoint?
}

extension Workload {
    /// The first version.
    public static var version: Int { 1 }

    /// No limit.
    public var timeLimit: Duration? { nil }

    /// Starts again from the beginning.
    public func migrate(checkpoint json: String) throws -> Checkpoint? { nil }
}

/// The checkpoint of a workload that has none.
public struct NoCheckpoint: Codable, Sendable, Hashable {
    /// Makes the only value.
    public init() {}
}

/// The end of an attempt without an error.
public enum WorkloadOutcome: Sendable, Hashable {
    /// The run is done.
    case finished
    /// The item continues later from its last checkpoint, after the host's deferral delay. The attempt does not count.
    ///
    /// Each further deferral without a new checkpoint doubles the delay, up to an hour.
    case deferred(because: String)
    /// The attempt failed, and the next one begins after a delay.
    case retry(after: Duration, because: String)
}

/// The request to stop and continue later. ``WorkloadContext/breathe()`` throws it; a workload lets it pass.
public struct WorkloadDeferral: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason.
    public let reason: String

    /// The reason, in words.
    public var description: String { "deferred: \(reason)" }
}
