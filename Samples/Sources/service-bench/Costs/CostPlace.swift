import Foundation

/// The folders of the compared programs, and what they share.
struct CostPlace {
    static let passphrase = "correct horse battery staple"

    private let place: BenchPlace
    var path: String { place.path }
    var passwordFile: String { place.state + "/password" }
    /// The file for the output of a measured run.
    var output: String { place.state + "/output" }

    init(_ place: BenchPlace) throws {
        self.place = place
        let secret: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        let text = Data((Self.passphrase + "\n").utf8)
        guard FileManager.default.createFile(atPath: passwordFile, contents: text, attributes: secret) else {
            throw BenchPlace.Failure(description: "\(passwordFile) cannot be written")
        }
    }

    /// Returns the path of a program of the samples.
    ///
    /// - Throws: ``BenchPlace/Failure`` if it is not built.
    func program(_ name: String) throws -> String {
        let path = place.program(name)
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BenchPlace.Failure(
                description: "\(name) is missing. Build it: swift build --package-path Samples -c release")
        }
        return path
    }

    /// Returns the folder of a program.
    func home(_ name: String) -> String { "\(place.state)/\(name)" }

    /// Makes the folder of a program anew, with folders in it.
    ///
    /// The old one moves aside until the end: after many removals ext4 makes new files more slowly for some seconds.
    func clear(_ name: String, _ folders: [String] = []) throws {
        if FileManager.default.fileExists(atPath: home(name)) {
            let aside = "\(path)/old"
            try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: home(name), toPath: "\(aside)/\(UUID().uuidString)")
        }
        for folder in [""] + folders {
            let path = "\(home(name))/\(folder)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
    }
}
