internal import Glibc

/// The names of temporary files.
package enum TemporaryName {
    /// The beginning of the names of all pairs. No scan takes such a file for an entry.
    package static let prefix = Array(".qos-sync-".utf8)

    /// The beginning of the names of one pair.
    package static func prefix(pair: String) -> [UInt8] { prefix + Array(pair.utf8) + [UInt8(ascii: "-")] }

    /// A name that no other process makes, and this one makes once for each number.
    package static func make(_ prefix: [UInt8], _ number: Int) -> [UInt8] {
        prefix + Array("\(getpid())-\(number)-\(UInt32.random(in: 0...UInt32.max))".utf8)
    }
}
