import QoSKernel
import Testing

extension Tag {
    /// Takes longer than a second.
    @Tag static var slow: Self
    /// A bug that another scheduler had.
    @Tag static var regression: Self
}

/// The kernel's id of the calling thread.
func threadID() -> ThreadID { .current }
