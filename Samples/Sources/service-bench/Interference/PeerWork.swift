import Foundation
import Synchronization

/// restic, rsync and recollindex.
final class PeerWork: BackgroundWork {
    private let commands: [[String]]
    private let neighbour: Neighbour
    private let running = Mutex<[Process]>([])

    /// Names the commands, and makes restic's repository and recoll's settings if they are missing.
    init(_ neighbour: Neighbour, corpus: Corpus, place: BenchPlace, passwordFile: String) throws {
        self.neighbour = neighbour
        let home = place.state + "/peers"
        let restic = ["/usr/bin/restic", "-r", home + "/restic", "--password-file", passwordFile, "--no-cache"]
        commands = [
            restic + ["backup", corpus.folder],
            ["/usr/bin/rsync", "-a", "--delete", corpus.folder + "/", home + "/copy/"],
            ["/usr/bin/recollindex", "-c", home + "/recoll"],
        ].map { neighbour.prefix + place.asUser($0) }
        guard !FileManager.default.fileExists(atPath: home) else { return }
        for folder in ["", "/copy", "/recoll"] {
            try FileManager.default.createDirectory(atPath: home + folder, withIntermediateDirectories: true)
            try place.handOver(home + folder)
        }
        let settings = "topdirs = \(corpus.folder)\nloglevel = 2\n"
        try Data(settings.utf8).write(to: URL(filePath: home + "/recoll/recoll.conf"))
        try BenchPlace.run(place.asUser(restic + ["init"]))
    }

    func settle() throws {
        for command in commands { try BenchPlace.run(command) }
    }

    func hold() {}

    func begin() throws {
        let processes = try commands.map(BenchPlace.start)
        running.withLock { $0 = processes }
    }

    func isOver() throws -> Bool {
        let running = running.withLock { $0 }
        guard running.allSatisfy({ !$0.isRunning }) else { return false }
        for (process, command) in zip(running, commands) where process.terminationStatus != 0 {
            throw BenchPlace.Failure(
                description: "status \(process.terminationStatus): \(command.joined(separator: " "))")
        }
        return true
    }
}
