/// What a sync does about one name, and why.
public struct Decision: Sendable, Hashable {
    /// What a sync does.
    public enum Outcome: Sendable, Hashable {
        /// Nothing.
        case keep
        /// Nothing on the sides: they agree, and the archive takes note.
        case record
        /// Nothing on the sides: the name is gone on both, and the archive forgets it.
        case forget
        /// One side gets the content of the other.
        ///
        /// - metadata: what the side gets with it.
        /// - source: what the other side gets, or nil if that has it already.
        case copy(to: Side, metadata: Metadata, source: Metadata?)
        /// Contents stay. Each side gets metadata, or nil if it has it already.
        case describe(a: Metadata?, b: Metadata?)
        /// Contents and metadata stay. On a side, the name becomes a name of another one's file, or no longer is one.
        case link
        /// One side loses the entry.
        case delete(on: Side)
        /// The version of one side gets a name of its own. Both versions then go to both sides.
        case keepBoth(moving: Side)
        /// One side renames an entry, as the other did. The entry of the new name.
        case rename(on: Side, from: [UInt8])
        /// The entry leaves this name: another decision renames it.
        case renamedAway
        /// The name stays as it is on both sides, until a person has done something.
        case skip
    }

    /// What the sync does.
    public var outcome: Outcome
    /// What happened on A.
    public var changeA: Change
    /// What happened on B.
    public var changeB: Change
    /// The reason, for people.
    public var reason: String

    /// Whether both sides changed the content.
    public var isConflict = false
}
