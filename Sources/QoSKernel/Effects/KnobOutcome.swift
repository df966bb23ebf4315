/// The outcome of one knob on one thread.
package struct KnobOutcome<Value: Sendable & Hashable>: Sendable {
    /// The value that the class asks for; `nil` if it leaves the knob to the kernel.
    package let asked: Value?
    /// Why setting it failed, if it did.
    package let error: KernelError?
    /// The value that the kernel reports afterwards.
    package let readBack: Result<Value, KernelError>

    /// Puts an outcome together.
    init(asked: Value?, error: KernelError?, readBack: Result<Value, KernelError>) {
        self.asked = asked
        self.error = error
        self.readBack = readBack
    }

    /// Puts an outcome together with what a call reads.
    init(asked: Value?, error: KernelError?, reading: () throws(KernelError) -> Value) {
        self.init(asked: asked, error: error, readBack: Result(catching: reading))
    }

    /// Whether nothing was asked for, or what was asked for reads back.
    package var isInEffect: Bool {
        guard let asked else { return true }
        return (try? readBack.get()) == asked
    }
}
