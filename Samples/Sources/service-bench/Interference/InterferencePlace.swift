import Foundation

/// The corpus, and the state of each neighbour, which lives from turn to turn.
struct InterferencePlace {
    private static let token = "benchmark-token-0123456789"
    private static let never = "86400"

    let corpus: Corpus
    private let place: BenchPlace
    private var passwordFile: String { place.state + "/password" }
    private var tokenFile: String { place.state + "/token" }

    /// Writes the passphrase and the token.
    init(_ place: BenchPlace, _ corpus: Corpus) throws {
        self.place = place
        self.corpus = corpus
        for (file, text) in [(passwordFile, "correct horse battery staple\n"), (tokenFile, Self.token)] {
            let secret: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8), attributes: secret) else {
                throw BenchPlace.Failure(description: "\(file) cannot be written")
            }
            try place.handOver(file)
        }
    }

    /// Returns the searches a second that the service answers at most while it has no work.
    func capacity() throws -> Double {
        let service = try service(for: .none)
        try service.waitUntilComplete(files: corpus.files)
        let queries = corpus.queries(200_000, seed: 1)
        _ = try Load.capacity(port: service.port, queries, seconds: 2)
        return try Load.capacity(port: service.port, queries, seconds: 5)
    }

    /// Starts the service of a neighbour.
    func service(for neighbour: Neighbour) throws -> Service {
        let isHost = neighbour.hasWork && !neighbour.isForeign
        let home = "\(place.state)/\(isHost ? neighbour.rawValue : "searched")"
        var command = [
            place.program("qos-service"), corpus.folder, "--index-dir", home + "/index", "--access", "open",
            "--token-file", tokenFile, "--rescan-interval", Self.never, "--executor", neighbour.executor,
        ]
        if !FileManager.default.fileExists(atPath: home) {
            for folder in ["", "/copy", "/archive"] {
                try FileManager.default.createDirectory(atPath: home + folder, withIntermediateDirectories: true)
                try place.handOver(home + folder)
            }
            if isHost {
                let make = [place.program("qos-backup"), "init", "-r", home + "/repository"]
                try BenchPlace.run(place.asUser(make + ["--password-file", passwordFile]))
            }
        }
        if isHost {
            command += [
                "--backup-repository", home + "/repository", "--backup-password-file", passwordFile,
                "--backup-interval", Self.never, "--check-interval", Self.never, "--sync-a", corpus.folder,
                "--sync-b", home + "/copy", "--sync-mode", "mirror", "--sync-interval", Self.never,
                "--sync-archive", home + "/archive", "--sync-max-delete", "100",
            ]
        }
        return try Service(place.asUser(command))
    }

    /// Returns the work of a neighbour.
    func work(_ neighbour: Neighbour, _ service: Service) throws -> any BackgroundWork {
        guard neighbour.hasWork else { return neighbour == .floor ? IdleLoops() : NoWork() }
        if neighbour.isForeign {
            return try PeerWork(neighbour, corpus: corpus, place: place, passwordFile: passwordFile)
        }
        return HostedWork(service, token: Self.token, folder: corpus.folder)
    }
}
