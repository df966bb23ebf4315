/// What a party inherits from now on, after an event of a ``WaitGraph``.
package struct WaitRaise<Party: Hashable & Sendable>: Sendable, Hashable {
    /// Who.
    package let party: Party
    /// The highest level of those who wait for it; `nil` when nobody does any more.
    package let level: QoSLevel?

    /// Makes one.
    package init(party: Party, level: QoSLevel?) {
        self.party = party
        self.level = level
    }
}

/// What follows when a party begins to wait.
package struct WaitOutcome<Party: Hashable & Sendable>: Sendable {
    /// Whose inherited level changed.
    package let raises: [WaitRaise<Party>]
    /// Whether the chain was longer than the limit, so that the wait raises nobody.
    package let isBeyondDepth: Bool
}
