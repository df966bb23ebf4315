internal import QoSCore
internal import QoSRuntime

/// Looks at folders again after each change in them, and from time to time.
public struct WatchLoop: Sendable {
    /// Changes of this time are taken together.
    private static let rest = Duration.milliseconds(500)

    private let name: String
    private let interval: Duration

    /// Makes a loop.
    ///
    /// - Parameters:
    ///   - name: The name of the queue of the events, for people.
    ///   - interval: The longest time between two looks, a second or more. A change that no event told is found then.
    public init(_ name: String, every interval: Duration) {
        self.name = name
        self.interval = interval
    }

    /// Looks until the task is cancelled, the first time at once.
    ///
    /// - Parameter look: Looks, and returns the folders to watch by their absolute paths; nil to leave the watches as
    ///   they are.
    /// - Throws: `CancellationError`, and the errors of `look`.
    public func run(_ look: () async throws -> [String]?) async throws {
        let (changes, feed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let interval = interval
        let clock = Task {
            while (try? await Task.sleep(for: interval, tolerance: .seconds(1))) != nil { feed.yield() }
        }
        defer { clock.cancel() }
        let queue = QoSProcess.scheduler?.makeQueue(name, level: .background)
        var watches = FolderWatches(on: queue) { feed.yield() }
        var isFirst = true
        feed.yield()
        for await _ in changes {
            if !isFirst { try await Task.sleep(for: Self.rest) }
            try Task.checkCancellation()
            isFirst = false
            if let folders = try await look() { await watches.watch(folders) }
        }
        try Task.checkCancellation()
    }
}
