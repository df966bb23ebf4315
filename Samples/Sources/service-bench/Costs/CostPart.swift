import ArgumentParser
import Foundation

/// A part of the comparison.
enum CostPart: String, Codable, CaseIterable, ExpressibleByArgument {
    case backup
    case sync
    case indexing
}

/// A program that is compared with ours.
struct Peer {
    let program: String
    let package: String

    /// Returns the programs that are installed, and says which packages are missing.
    static func installed(_ peers: [Peer]) -> Set<String> {
        var found: Set<String> = []
        for peer in peers {
            if let version = peer.version {
                print("\(peer.program): \(version)")
                found.insert(peer.program)
            } else {
                print("skipped: \(peer.program) (\(peer.package) is not installed)")
            }
        }
        return found
    }

    /// The version of the package that has the program; nil if the program is missing.
    private var version: String? {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)") else { return nil }
        let output = FileManager.default.temporaryDirectory.appending(path: "version-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: output) }
        let query = ["/usr/bin/dpkg-query", "-W", "-f", "${Version}", package]
        guard (try? MeasuredRun(query, output: output)) != nil else { return "of an unknown version" }
        return try? String(contentsOfFile: output, encoding: .utf8)
    }
}
