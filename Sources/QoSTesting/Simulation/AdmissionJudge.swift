package import QoSCore

/// Somebody who knows the rules of admission in another way, and answers each event beside the machine: an oracle.
package protocol AdmissionJudge {
    /// Applies an event and says what the machine should have answered.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - time: Nanoseconds of virtual time.
    ///   - fence: The identity that the machine gave to the fence that the event raised.
    mutating func apply(_ event: AdmissionEvent, at time: Int64, fence: FenceID?) -> AdmissionReply
}
