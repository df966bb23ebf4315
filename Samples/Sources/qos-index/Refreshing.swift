internal import Indexing
internal import SampleCommand
internal import TreeScan

/// Brings a folder up to date before a search.
struct Refreshing {
    private let library: IndexLibrary
    private let entries: [IndexLibrary.Entry]

    init(_ library: IndexLibrary, _ entries: [IndexLibrary.Entry]) {
        self.library = library
        self.entries = entries
    }

    /// Waits until a folder is up to date, or the time is over. Returns whether it is.
    ///
    /// While another process fills the index, this one waits for its end.
    func run(_ folder: String, within limit: Duration) async throws -> Bool {
        let deadline = ContinuousClock.now + limit
        guard let entry = entries.last(where: { RootFolder.contains($0.folder, folder) }) else {
            throw Failure("\(folder) is in no indexed folder. 'qos-index add' adds one.")
        }
        while true {
            do {
                let index = try library.open(entry)
                defer { try? index.close() }
                let below = folder.utf8.dropFirst(entry.folder.utf8.count).drop { $0 == UInt8(ascii: "/") }
                let report = try await index.refresh(
                    RelativePath(bytes: Array(below)), within: max(.zero, deadline - .now))
                if !report.isComplete { complain("\(folder) is not up to date: the time limit was reached.") }
                return report.isComplete
            } catch IndexError.inUse(_, let process) where ContinuousClock.now >= deadline {
                complain(
                    "\(folder) may not be up to date: \(process.map { "process \($0)" } ?? "another process") has its "
                        + "index open. While that one is 'qos-index watch', changes follow within seconds.")
                return false
            } catch IndexError.inUse {
                try await Task.sleep(for: .milliseconds(100), tolerance: .milliseconds(50))
            }
        }
    }
}
