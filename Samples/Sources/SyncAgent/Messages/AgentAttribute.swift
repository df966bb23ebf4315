internal import Foundation
internal import SafeFiles
internal import Sync
internal import TreeScan

/// An extended attribute, in messages.
struct AgentAttribute: Codable, Sendable {
    /// The bytes of all attributes of an entry, at most: they are in one frame.
    private static let most = 480 << 10
    private static let longestName = 255

    var name: Data
    var value: Data

    /// The attributes for a message. The last ones of too many are left out.
    ///
    /// - Parameter privileged: Whether those are among them that give a program rights, or that root alone may see. They
    ///   go along with owners only.
    static func all(of values: AttributeSet, privileged: Bool) -> (sent: [AgentAttribute], left: [[UInt8]]) {
        var (sent, left, bytes): ([AgentAttribute], [[UInt8]], Int) = ([], [], 0)
        for (name, value) in values.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            bytes += name.count + value.count + 64
            guard bytes <= most, mayGo(name, privileged: privileged) else {
                left.append(name)
                continue
            }
            sent.append(AgentAttribute(name: Data(name), value: Data(value)))
        }
        return (sent, left)
    }

    /// The attributes of a message.
    ///
    /// - Throws: `WireError` if a name is none.
    static func values(_ attributes: [AgentAttribute], privileged: Bool) throws(WireError) -> AttributeSet {
        var values: AttributeSet = [:]
        for attribute in attributes {
            let name = try self.name(attribute.name)
            if mayGo(name, privileged: privileged) { values[name] = Array(attribute.value) }
        }
        return values
    }

    /// The name of an attribute of a message.
    static func name(_ data: Data) throws(WireError) -> [UInt8] {
        let name = Array(data)
        guard (1...longestName).contains(name.count), !name.contains(0) else {
            throw WireError("an attribute has no name")
        }
        return name
    }

    /// Whether an attribute of an entry goes over the network.
    static func mayGo(_ name: [UInt8], privileged: Bool) -> Bool {
        guard ExtendedAttributes.isOfUser(name) else { return false }
        return privileged || name.starts(with: "user.".utf8) || name.starts(with: "system.posix_acl_".utf8)
    }
}

/// A piece of the answer with the prints of attributes.
enum PrintPiece {
    static func encode(_ path: RelativePath, _ print: AttributePrint) -> [UInt8] {
        var writer = WireWriter()
        writer.counted(path.bytes)
        writer.raw(print.encoded)
        return writer.bytes
    }

    static func decode(_ bytes: ArraySlice<UInt8>) throws(WireError) -> (RelativePath, AttributePrint) {
        var reader = WireReader(bytes)
        let path = try NameRules.path(try reader.counted(limit: FrameReader.limit))
        return (path, try AttributePrint(decoding: try reader.raw(reader.rest)))
    }
}
