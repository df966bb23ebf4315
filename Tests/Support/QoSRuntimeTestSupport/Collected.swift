internal import QoSKernel

/// What many threads report, in the order in which they do.
package final class Collected<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])

    /// Nothing yet.
    package init() {}

    /// What has been reported so far.
    package var all: [Element] { elements.withLock { $0 } }

    /// Adds a report. Any thread.
    package func append(_ element: Element) {
        elements.withLock { $0.append(element) }
    }
}
