import Foundation
import Synchronization

/// restic, rsync and recollindex.
final class PeerWork: BackgroundWork {
    private let commands: [WorkPart: [String]]
    /// Whether the programs ran before, in an earlier turn or for another neighbour. The state of that run is enough:
    /// every file has had other words since.
    private let hasState: Bool
    private let running = Mutex<[WorkPart: Process]>([:])

    /// Names the commands, and makes restic's repository and recoll's settings if they are missing.
    init(_ neighbour: Neighbour, corpus: Corpus, place: BenchPlace, passwordFile: String) throws {
        let home = place.state + "/peers"
        let restic = ["/usr/bin/restic", "-r", home + "/restic", "--password-file", passwordFile, "--no-cache"]
        commands = [
            .backup: restic + ["backup", corpus.folder],
            .sync: ["/usr/bin/rsync", "-a", "--delete", corpus.folder + "/", home + "/copy/"],
            .indexing: ["/usr/bin/recollindex", "-c", home + "/recoll"],
        ].mapValues { neighbour.prefix + place.asUser($0) }
        hasState = FileManager.default.fileExists(atPath: home)
        guard !hasState else { return }
        for folder in ["", "/copy", "/recoll"] {
            try FileManager.default.createDirectory(atPath: home + folder, withIntermediateDirectories: true)
            try place.handOver(home + folder)
        }
        try RecollSettings.write(to: home + "/recoll", for: corpus.folder)
        try BenchPlace.run(place.asUser(restic + ["init"]))
    }

    func prepare() throws {
        guard !hasState else { return }
        for command in commands.values { try BenchPlace.run(command) }
    }

    func begin() throws {
        let processes = try commands.mapValues(BenchPlace.start)
        running.withLock { $0 = processes }
    }

    func progress() throws -> WorkProgress {
        let ended = running.withLock { $0 }.filter { !$0.value.isRunning }
        for (part, process) in ended where process.terminationStatus != 0 {
            throw BenchPlace.Failure(
                description:
                    "status \(process.terminationStatus): \(commands[part, default: []].joined(separator: " "))")
        }
        return WorkProgress(done: Set(ended.keys), isOver: ended.count == commands.count)
    }
}
