import Foundation

/// A temporary folder with the programs and the state of a run, and the user who runs them.
struct BenchPlace {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let path: String
    private let programs: String
    private let isUnprivileged: Bool

    /// The folder that the user of the programs may write to.
    var state: String { path + "/state" }

    /// Makes the folder.
    ///
    /// - Parameter isUnprivileged: Whether the programs run as the user 65534 without capabilities; needs root.
    init(isUnprivileged: Bool) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "service-bench-\(UUID().uuidString)").path
        self.isUnprivileged = isUnprivileged
        let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        programs = isUnprivileged ? path + "/programs" : built
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        guard isUnprivileged else { return }
        // The other user must be able to use the programs.
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        for name in ["qos-service", "qos-backup"] where FileManager.default.fileExists(atPath: "\(built)/\(name)") {
            try FileManager.default.copyItem(atPath: "\(built)/\(name)", toPath: "\(programs)/\(name)")
        }
        try handOver(state)
    }

    /// Removes the folder.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the path of a program of the samples.
    func program(_ name: String) -> String { "\(programs)/\(name)" }

    /// Returns a command as the user of the programs runs it.
    func asUser(_ command: [String]) -> [String] {
        guard isUnprivileged else { return command }
        return [
            "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all", "/usr/bin/env", "HOME=\(state)",
        ] + command
    }

    /// Makes the user of the programs the owner of a file or folder.
    func handOver(_ path: String) throws {
        guard isUnprivileged else { return }
        let rights: [FileAttributeKey: Any] = [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534]
        try FileManager.default.setAttributes(rights, ofItemAtPath: path)
    }

    /// Starts a command without input and output.
    static func start(_ command: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Runs a command to its end.
    ///
    /// - Throws: ``Failure`` if it cannot be found, or ends with another status than 0.
    static func run(_ command: [String]) throws {
        let process = try start(command)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "status \(process.terminationStatus): \(command.joined(separator: " "))")
        }
    }
}
