extension QoSLevel {
    /// The level that submitted work infers from a submitter: the same level, but at most `userInitiated` (rule B6).
    ///
    /// Work that a user watches does not hand this on. The function is monotone: a higher submitter never hands on a
    /// lower level. Applying it twice changes nothing.
    ///
    /// - Complexity: O(1).
    package var propagated: QoSLevel { min(self, .userInitiated) }
}
