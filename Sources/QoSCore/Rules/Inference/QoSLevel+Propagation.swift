extension QoSLevel {
    /// What work gets that infers its level from a submitter who runs at this one (rule B6).
    ///
    /// The level itself, but at most `userInitiated`: being watched step by step is not handed on. Monotone, so a higher
    /// submitter never hands on a lower level; applying it twice changes nothing. O(1).
    public var propagated: QoSLevel { min(self, .userInitiated) }
}
