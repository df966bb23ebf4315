import Synchronization

/// An object that a ``LinkedStack`` can hold.
protocol Linked: AnyObject {
    /// The address of the object below; owned by the stack.
    var next: UInt { get set }
}

/// A stack of objects. Any thread pushes, and one thread takes all of them at once, the latest first.
///
/// Threading: any thread; wait-free for a single pusher. A push retains the object, and ``takeAll(_:)`` releases it.
final class LinkedStack<Element: Linked>: Sendable {
    private let head = Atomic<UInt>(0)

    /// Whether nothing was pushed since the last ``takeAll(_:)``. Sequentially consistent with ``push(_:)``.
    var isEmpty: Bool { head.load(ordering: .sequentiallyConsistent) == 0 }

    deinit {
        takeAll { _ in }
    }

    /// Adds an object. Any thread; no allocation.
    func push(_ element: Element) {
        // SAFETY: the stack owns the reference until `takeAll` has taken it back.
        let address = UInt(bitPattern: unsafe Unmanaged.passRetained(element).toOpaque())
        var latest = head.load(ordering: .relaxed)
        while true {
            element.next = latest
            let (exchanged, original) = head.weakCompareExchange(
                expected: latest, desired: address, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            if exchanged { return }
            latest = original
        }
    }

    /// Takes out all objects. Any thread.
    func takeAll(_ body: (Element) -> Void) {
        var address = head.exchange(0, ordering: .sequentiallyConsistent)
        // SAFETY: each object was retained when it was pushed; here it is taken over once.
        while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
            let element = unsafe Unmanaged<Element>.fromOpaque(pointer).takeRetainedValue()
            address = element.next
            body(element)
        }
    }
}
