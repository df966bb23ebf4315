import QoSKernel

/// Runs a body on a fresh thread and returns what it returned, after the thread's end.
func onThread<Value: Sendable>(
    named name: String = "test", _ body: @escaping @Sendable () -> Value
) throws(KernelError) -> Value {
    let result = Box<Value?>(nil)
    let thread = try Thread(name: name) {
        let value = body()
        result.update { $0 = value }
    }
    try thread.join()
    guard let value = result.value else {
        throw KernelError(.joinThread, code: 0, subject: "a thread that left no result")
    }
    return value
}
