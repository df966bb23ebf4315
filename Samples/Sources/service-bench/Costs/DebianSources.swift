import Foundation

/// The sources of a Debian package, unpacked without an installation.
struct DebianSources {
    private static let package = "golang-1.19-src"
    let folder: String

    /// Fetches the package into a new folder, with apt-get.
    init(in place: String) throws {
        folder = place + "/usr/share/go-1.19/src"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        do {
            try BenchPlace.run([
                "/bin/sh", "-c", "cd '\(place)' && apt-get download \(Self.package) && dpkg-deb -x *.deb .",
            ])
        } catch {
            throw BenchPlace.Failure(
                description: "\(Self.package) cannot be fetched. Name a folder with --corpus instead.")
        }
    }
}
