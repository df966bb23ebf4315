internal import QoSKernel

/// The reports of many threads, in their order.
package final class Collected<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])

    /// Nothing yet.
    package init() {}

    /// All reports so far.
    package var all: [Element] { elements.withLock { $0 } }

    /// Adds a report. Any thread.
    package func append(_ element: Element) {
        elements.withLock { $0.append(element) }
    }
}
