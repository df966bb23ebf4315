package import QoSCore

/// An oracle: a second form of the rules of admission. It answers each event beside the machine.
package protocol AdmissionJudge {
    /// Applies an event and returns the right answer of the machine.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - time: Nanoseconds of virtual time.
    ///   - fence: The identity that the machine gave to the fence that the event raised.
    mutating func apply(_ event: AdmissionEvent, at time: Int64, fence: FenceID?) -> AdmissionReply
}
