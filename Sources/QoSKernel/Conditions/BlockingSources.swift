internal import Glibc

/// Reads sources that may block, such as a sensor behind a broken bus, and goes on without those that do.
///
/// A thread of its own reads one source after the other. If a read takes too long, another thread takes over the rest.
/// The source counts as blocked until its read has returned. Its late value then counts at the next call.
///
/// Threading: one thread at a time calls ``read(patience:)``; any thread does the rest.
package final class BlockingSources<Value: Sendable>: Sendable {
    /// A source.
    package struct Source: Sendable {
        /// The name for people.
        package let name: String
        /// Reads the source, and may block.
        package let read: @Sendable () -> Value

        /// Makes a source.
        package init(_ name: String, _ read: @escaping @Sendable () -> Value) {
            self.name = name
            self.read = read
        }
    }

    /// The result of a source.
    package enum Answer: Sendable {
        /// It has answered.
        case value(Value)
        /// Its read began this many nanoseconds ago, and has not returned.
        case blocked(forNanoseconds: UInt64)
        /// The system has no thread for it.
        case noThread(KernelError)
    }

    /// A thread that reads, and the token that wakes it.
    private final class Reader: Sendable {
        let parker = Parker()
    }

    private struct State: Sendable {
        /// By source: the begin of the read under way.
        var began: [UInt64?]
        /// By source: the value that was read since the last call.
        var values: [Value?]
        var queue: [Int] = []
        /// The thread that takes from the queue. A thread that is stuck is no longer it.
        var reader: Reader?
        /// The source that this thread reads now.
        var reading: Int?
        var isEnded = false
    }

    private let sources: [Source]
    private let state: Lock<State>
    /// Wakes the caller of ``read(patience:)``.
    private let done = Parker()

    /// Makes the sources. The first call starts a thread.
    package init(_ sources: [Source]) {
        self.sources = sources
        state = Lock(
            State(
                began: Array(repeating: nil, count: sources.count), values: Array(repeating: nil, count: sources.count))
        )
    }

    deinit { end() }

    /// Reads all sources that do not block.
    ///
    /// - Parameter patience: the time for a source, in nanoseconds. A source that blocks costs it once, and nothing at later
    ///   calls.
    /// - Returns: the answers, in the order of the sources.
    package func read(patience: UInt64) -> [Answer] {
        state.withLock { state in
            state.queue = sources.indices.filter { state.began[$0] == nil && state.values[$0] == nil }
        }
        var problem: KernelError?
        while problem == nil, let reader = currentReader(&problem) {
            reader.parker.unpark()
            let (end, isEndless) = MonotonicClock.nanoseconds().addingReportingOverflow(patience)
            if done.park(untilNanoseconds: isEndless ? .max : end) { continue }
            // A thread that is stuck is left alone with its source.
            let now = MonotonicClock.nanoseconds()
            state.withLock { state in
                guard state.reader === reader, let began = state.reading.flatMap({ state.began[$0] }) else { return }
                if now - min(began, now) >= patience { (state.reader, state.reading) = (nil, nil) }
            }
        }
        let now = MonotonicClock.nanoseconds()
        return state.withLock { state in
            state.queue = []
            return sources.indices.map { index in
                if let value = state.values[index].take() { return .value(value) }
                if let began = state.began[index] { return .blocked(forNanoseconds: now - min(began, now)) }
                return .noThread(problem ?? KernelError(.createThread, code: EAGAIN, subject: sources[index].name))
            }
        }
    }

    /// The names of the sources whose reads have not returned, with their durations in nanoseconds.
    package var blocked: [(name: String, nanoseconds: UInt64)] {
        let now = MonotonicClock.nanoseconds()
        return state.withLock { state in
            sources.indices.compactMap { index in
                state.began[index].map { (sources[index].name, now - min($0, now)) }
            }
        }
    }

    /// Ends the thread. One that is stuck ends when its read returns.
    package func end() {
        state.withLock { state in
            state.isEnded = true
            return state.reader
        }?.parker.unpark()
    }

    /// Returns the thread that has work to do, and starts it if there is none; `nil` when nothing is left to do.
    private func currentReader(_ problem: inout KernelError?) -> Reader? {
        let (reader, isNew) = state.withLock { state -> (Reader?, Bool) in
            if let reader = state.reader {
                return (state.queue.isEmpty && state.reading == nil ? nil : reader, false)
            }
            guard !state.queue.isEmpty, !state.isEnded else { return (nil, false) }
            let reader = Reader()
            state.reader = reader
            return (reader, true)
        }
        guard let reader, isNew else { return reader }
        do throws(KernelError) {
            // Without a reference to this object while it sleeps, so that it ends with the object.
            let thread = try Thread(name: "qos-sensors") { [weak self] in
                while self?.work(as: reader) == true { reader.parker.park() }
            }
            thread.detach()
        } catch {
            problem = error
            state.withLock { $0.reader = nil }
            return nil
        }
        return reader
    }

    /// Reads sources until none is left.
    ///
    /// - Returns: whether the thread may be needed again.
    private func work(as reader: Reader) -> Bool {
        while true {
            let (next, goesOn) = state.withLock { state -> (Int?, Bool) in
                guard state.reader === reader, !state.isEnded else { return (nil, false) }
                guard !state.queue.isEmpty else { return (nil, true) }
                let next = state.queue.removeFirst()
                state.began[next] = MonotonicClock.nanoseconds()
                state.reading = next
                return (next, true)
            }
            guard let next else { return goesOn }
            let value = sources[next].read()
            let isLast = state.withLock { state in
                state.began[next] = nil
                state.values[next] = value
                guard state.reader === reader else { return false }
                state.reading = nil
                return state.queue.isEmpty
            }
            if isLast { done.unpark() }
        }
    }
}
