import Synchronization

/// A value that a thread of a test leaves for the test.
final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) {
        content = Mutex(value)
    }

    var value: Value { content.withLock { $0 } }

    func update(_ change: @Sendable (inout Value) -> Void) {
        content.withLock { change(&$0) }
    }
}
