/// A thread's name in the form the kernel keeps: at most 15 bytes, no NUL (prctl(2), PR_SET_NAME).
package struct ThreadName: Sendable, Hashable {
    /// The most bytes a name has.
    package static let maximumLength = 15

    /// The part of the requested name that fits.
    package let text: String

    /// Cuts a name at its first NUL and after at most 15 bytes, never inside of a character.
    package init(_ name: String) {
        var kept = ""
        for character in name.unicodeScalars {
            guard character != "\0" else { break }
            guard kept.utf8.count + UTF8.width(character) <= Self.maximumLength else { break }
            kept.unicodeScalars.append(character)
        }
        text = kept
    }
}
