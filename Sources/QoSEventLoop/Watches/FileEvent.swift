internal import CLibUV

/// Something that happened to a watched file or directory.
package struct FileEvent: Sendable, Hashable {
    /// The kinds of events.
    package struct Kinds: OptionSet, Sendable, Hashable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        /// A name came, went or was given to another file.
        package static let rename = Kinds(rawValue: Int32(UV_RENAME.rawValue))
        /// Contents or attributes changed.
        package static let change = Kinds(rawValue: Int32(UV_CHANGE.rawValue))
    }

    /// The kind of the event.
    package let kinds: Kinds

    /// The last component of the changed path, in the bytes of the file system, which need not be UTF-8; `nil` if the
    /// kernel does not say.
    package let nameBytes: [UInt8]?

    /// The name as text; bytes that are not UTF-8 are replaced, so it need not lead to the file.
    package var name: String? {
        nameBytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
