extension QoSLevel {
    /// The level that work infers from a submitter at this level (rule B6): this level, but at most `userInitiated`.
    ///
    /// Work that a user watches does not hand this on. The function is monotone: a higher submitter never hands on a
    /// lower level. Applying it twice changes nothing.
    ///
    /// - Complexity: O(1).
    public var propagated: QoSLevel { min(self, .userInitiated) }
}
