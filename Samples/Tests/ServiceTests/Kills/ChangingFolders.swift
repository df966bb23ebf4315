import Foundation
import Glibc
import SampleTestSupport

/// The two folders of a sync that change all the time, and what each file has been.
///
/// Each side changes files of its own only, so no conflict is possible. A file appears whole, by a rename.
final class ChangingFolders {
    /// What a file was from a moment on, until the next version.
    private struct Version {
        /// Nanoseconds since 1970 before and after the change.
        let before: Int64
        let after: Int64
        /// Nil for a file that was removed.
        let seed: UInt64?
    }

    private static let filesOfSide = 24

    private let world: HostingWorld
    private var generator: SeededGenerator
    private var history: [String: [Version]] = [:]

    init(_ world: HostingWorld, seed: UInt64) {
        self.world = world
        generator = SeededGenerator(seed: seed)
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }

    /// Writes or removes some files of both sides.
    func change(_ count: Int) throws {
        for _ in 0..<count {
            let side = Bool.random(using: &generator) ? "a" : "b"
            let number = Int.random(in: 0..<Self.filesOfSide, using: &generator)
            let name = "\(side)\(number % 3)/\(side)\(number)"
            let isThere = history[name]?.last?.seed != nil
            let seed = isThere && Int.random(in: 0..<5, using: &generator) == 0 ? nil : generator.next()
            let before = Self.now
            try set(path(of: name), seed)
            history[name, default: []].append(Version(before: before, after: Self.now, seed: seed))
        }
    }

    private func path(of name: String) -> String {
        (name.hasPrefix("a") ? world.other : world.served.path) + "/" + name
    }

    private func set(_ path: String, _ seed: UInt64?) throws {
        guard let seed else { return try FileManager.default.removeItem(atPath: path) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try world.state.write("scratch", bytes: Self.content(seed))
        guard unsafe rename(world.state["scratch"], path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// A text for the index, or noise that does not compress.
    private static func content(_ seed: UInt64) -> [UInt8] {
        let size = Int(seed % 40_000)
        if seed % 3 == 0 { return [0] + SeededGenerator.noise(size, seed: seed) }
        var words = WordWorld(seed: seed)
        return Array(words.text(words: size / 50).utf8)
    }

    private static func files(at folder: String) throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                return attributes?[.type] as? FileAttributeType == .typeRegular
            })
    }

    private static func bytes(_ folder: String, _ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
    }

    /// Compares a restored snapshot with what the files were between two moments.
    ///
    /// Files of the side that is not saved itself come by the sync: they may be as at any moment before the second one.
    ///
    /// - Returns: The files that are as they never were.
    func mistakes(at folder: String, from start: Int64, to end: Int64) throws -> [String] {
        let found = try Self.files(at: folder).filter { !$0.contains(".qos-sync-") }
        let strangers = found.subtracting(history.keys).map { "\($0) was never there" }
        return try strangers
            + history.compactMap { name, versions in
                let comesLate = name.hasPrefix("a")
                var possible = versions.indices.filter { number in
                    guard versions[number].before <= end else { return false }
                    return comesLate || number + 1 == versions.count || versions[number + 1].after >= start
                }.map { versions[$0].seed }
                if comesLate || versions[0].after >= start { possible.append(nil) }
                guard found.contains(name) else {
                    return possible.contains(nil) ? nil : "\(name) is missing"
                }
                let bytes = try Self.bytes(folder, name)
                let isKnown = possible.contains { $0.map { Self.content($0) == bytes } ?? false }
                return isKnown ? nil : "\(name) is none of its versions"
            }
    }

    /// Compares a folder with the last versions of all files.
    func mistakes(at folder: String) throws -> [String] {
        let found = try Self.files(at: folder)
        return try found.subtracting(history.keys).map { "\($0) was never there" }
            + history.compactMap { name, versions in
                guard let seed = versions.last?.seed else { return found.contains(name) ? "\(name) is back" : nil }
                guard found.contains(name) else { return "\(name) is lost" }
                return try Self.bytes(folder, name) == Self.content(seed) ? nil : "\(name) has wrong bytes"
            }
    }
}
