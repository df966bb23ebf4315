import QoSKernel

/// What many threads report, in the order in which they do.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) {
        elements.withLock { $0.append(element) }
    }
}
