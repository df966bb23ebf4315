internal import TreeScan

/// One step of a plan, on one side. The steps of a plan are done in their order.
struct SyncAction: Sendable, Hashable {
    enum Work: Sendable, Hashable {
        /// Gives an entry a name that is free on both sides, because of a conflict.
        case moveAside(to: RelativePath)
        /// Makes a folder.
        case makeFolder
        /// Renames an entry, as the other side did.
        case rename(to: RelativePath)
        /// Writes the other side's entry under the same name.
        case put
        /// Makes the name one of a file that is there under another name.
        ///
        /// - orCopies: Whether it has to get the content of the other side if that cannot be done.
        case link(to: RelativePath, orCopies: Bool)
        /// Sets extended attributes, before the content goes to the other side.
        case setAttributes
        /// Sets metadata and extended attributes.
        case describe
        /// Removes an entry. A folder must be empty by then.
        case delete
    }

    var work: Work
    var side: Side
    var path: RelativePath
    /// The metadata that the entry gets.
    var metadata = Metadata(mode: 0)
    /// The extended attributes that the entry gets from the other side, beside a content.
    var attributes = AttributeChange()
    /// The other side's entry.
    var source: Observation?
    /// The entry that must be under the name; nil if the name must be free.
    var old: Observation?

    /// Whether the name becomes one of a file that is there.
    var isLink: Bool { if case .link = work { true } else { false } }
}
