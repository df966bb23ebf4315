import QoSKernel
import QoSKernelTestSupport

/// Gives a body the id of a thread that does nothing until the body has returned.
func onIdleThread(_ body: (ThreadID) throws -> Void) throws {
    let gate = Gate()
    let thread = try Thread(name: "idle") { gate.blockThread() }
    let result = Result { try body(thread.id) }
    gate.open()
    try thread.join()
    try result.get()
}
