import QoSWorkloads

/// Makes the digest of a note.
struct Digests: Workload {
    static let name: WorkloadName = "digest"
    struct Parameters: Codable, Sendable { var note: Int64 }

    let notes: Notes
    /// Called before the work, so that it can take virtual time in a test.
    var pause: @Sendable () async -> Void = {}

    func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
        guard let text = try await notes.text(of: parameters.note) else { return .finished }
        await pause()
        var digest = Digest(note: parameters.note, words: 0)
        // Lines are found by their bytes, because that is fast: a long job keeps its worker.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            // Throws if the attempt should stop, for example because the process ends.
            try await context.breathe()
            // Lets more urgent work go first.
            await QoS.yieldIfNeeded()
            digest.words += Substring(line).split { !$0.isLetter }.count
        }
        try await notes.save(digest)
        return .finished
    }
}
