import Glibc
import QoSCore
import QoSEventLoop
import QoSKernel
import QoSRuntime

// A connection over a Unix stream socket.
//
// Reading. The loop's thread reads when the socket is readable, 64 KiB at a time and at most four times before it serves
// other connections. The machine takes all of it: what it keeps is bounded by the credits that it gave.
//
// Writing. The thread that has something to say writes at once: a caller its request, a handler its reply. `QoSMutex`
// lets one write at a time, and raises a lower thread that holds up a higher one. If the socket takes no more, the
// loop's thread goes on when it is writable.
//
// The end. Only the loop's thread closes the descriptor, after the watch. A peer that ends in order says goodbye first.
// If the bytes end without one, the peer's process may be ending: its descriptors are closed before it counts as ended.
// So the transport waits up to 100 ms for its end, by a descriptor of the process (`SO_PEERPIDFD`), and tells which it
// was.
//
// A child service has its socket from its parent. There, the kernel names the parent at both ends. So the parent's side
// asks the child's own descriptor, and is told of the child's end.

/// One socket.
final class SocketTransport: Transport {
    /// Bytes of one read.
    private static let readSize = 65_536
    /// Reads before other connections have their turn.
    private static let readsPerTurn = 4
    /// The time that a process has to end after its last descriptor.
    private static let deathPatience: UInt64 = 100_000_000
    /// The time that a peer has to take the goodbye.
    private static let goodbyePatience: UInt64 = 1_000_000_000

    private struct Output {
        /// Bytes that the socket did not take.
        var rest: ArraySlice<UInt8> = []
        var isBlocked = false
        /// The descriptor is closed, or must not be used any more.
        var isClosed = false
    }

    /// Touched on the loop's thread only.
    private struct LoopSide {
        var watch: DescriptorWatch?
        var deathWatch: DescriptorWatch?
        var buffer = [UInt8](repeating: 0, count: SocketTransport.readSize)
    }

    private let descriptor: Int32
    private let connection: Connection
    private let loop: MessageLoop
    /// The child at the other end; `nil` for another process.
    private let child: ServiceProcess?
    private let output = QoSMutex(Output(), name: "socket")
    private let loopSide = Lock(LoopSide())

    /// Takes over a connected descriptor, which is non-blocking, and starts the connection.
    ///
    /// - Parameters:
    ///   - child: the child at the other end; `nil` for another process.
    ///   - onEnd: called when the connection and its handlers have ended.
    @discardableResult
    static func start(
        _ descriptor: Int32, _ connection: Connection, on loop: MessageLoop, to child: ServiceProcess? = nil,
        onEnd: @escaping @Sendable () -> Void = {}
    ) -> SocketTransport {
        let transport = SocketTransport(descriptor, connection, loop, child)
        loop.submit { transport.beginReading() }
        connection.start(transport, onEnd: onEnd)
        return transport
    }

    private init(_ descriptor: Int32, _ connection: Connection, _ loop: MessageLoop, _ child: ServiceProcess?) {
        (self.descriptor, self.connection, self.loop, self.child) = (descriptor, connection, loop, child)
    }

    // MARK: Writing

    private enum Outcome {
        /// The socket takes no more.
        case stalled
        /// It took no more before.
        case blocked
        /// All is written.
        case written
        /// All is written, and nothing will follow.
        case over
        case closed
    }

    func flush() {
        let (outcome, deferred) = output.withLock { output -> (Outcome, Connection.Deferred) in
            var deferred = Connection.Deferred()
            if output.isClosed { return (.closed, deferred) }
            if output.isBlocked { return (.blocked, deferred) }
            if write(&output, &deferred) { return (.stalled, deferred) }
            // Under the lock: another thread could take the goodbye, and find the socket full.
            return (connection.isOver ? .over : .written, deferred)
        }
        connection.perform(deferred)
        switch outcome {
        case .stalled:
            connection.outputStalls()
            loop.submit { self.watchOutput(true) }
        case .over: loop.submit { self.close() }
        case .written, .blocked, .closed: break
        }
        // A peer that reads nothing gets no goodbye.
        if outcome == .blocked || outcome == .stalled, connection.hasEnded {
            loop.setAlarm(for: self, at: MonotonicClock.nanoseconds().addingSaturating(Self.goodbyePatience)) {
                $0.close()
            }
        }
    }

    /// Writes until there is nothing left, or the socket takes no more. Returns whether it takes no more.
    private func write(_ output: inout Output, _ deferred: inout Connection.Deferred) -> Bool {
        var hasWritten = false
        while true {
            if output.rest.isEmpty {
                let bytes = connection.takeOutput(&deferred)
                if bytes.isEmpty { return false }
                output.rest = bytes[...]
            }
            if hasWritten { ServiceSteps.reach(.outputHalfWritten) }
            let written = unsafe output.rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if written > 0 {
                hasWritten = true
                output.rest = output.rest.dropFirst(written)
            } else if written < 0, errno == EINTR {
                continue
            } else if written < 0, errno == EAGAIN || errno == EWOULDBLOCK {
                output.isBlocked = true
                return true
            } else {
                // The peer has gone, reads no more, or bytes are lost. The reading side finds the end, after what came.
                output.rest = []
                output.isBlocked = true
                shutdown(descriptor, Int32(SHUT_RDWR))
                return false
            }
        }
    }

    // MARK: On the loop's thread

    private func beginReading() {
        do {
            let watch = try loop.loop.watchDescriptor(descriptor, for: .readable) { outcome in self.handle(outcome) }
            loopSide.withLock { $0.watch = watch }
        } catch {
            connection.lose(.connectionLost("\(error)"))
            close()
        }
    }

    private func handle(_ outcome: DescriptorWatch.Outcome) {
        guard case .success(let events) = outcome else {
            // The socket has failed, after bytes that are still there: a goodbye, or a reply.
            for _ in 0..<1_024 where loopSide.withLock({ $0.watch != nil }) { read() }
            lost()
            return
        }
        if events.contains(.writable) {
            // First: from the next line on, another thread may fill the socket again and say so.
            connection.outputFlows()
            output.withLock { $0.isBlocked = false }
            watchOutput(false)
            flush()
        }
        if events.contains(.readable) || events.contains(.disconnected) { read() }
    }

    private func watchOutput(_ isWatched: Bool) {
        try? loopSide.withLock(\.watch)?.update(isWatched ? [.readable, .writable] : .readable)
    }

    private func read() {
        // Taken, so that the bytes are read in place and under no lock.
        var buffer = loopSide.withLock { side in
            defer { side.buffer = [] }
            return side.buffer
        }
        if buffer.isEmpty { return }
        for _ in 0..<Self.readsPerTurn {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
            }
            if count > 0 {
                connection.receive(buffer[..<count])
                if count < Self.readSize { break }
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
                break
            } else {
                lost()
                break
            }
        }
        loopSide.withLock { $0.buffer = buffer }
    }

    /// The bytes have ended.
    private func lost() {
        guard let watch = loopSide.withLock({ $0.watch.take() }) else { return }
        watch.close()
        output.withLock { $0.isBlocked = true }
        if connection.hasEnded {
            close()
            return
        }
        let process: Int32
        switch processOfPeer {
        case .open(let descriptor): process = descriptor
        case .ended:
            connection.lose(.peerDied(pid: connection.peer.pid))
            close()
            return
        case .unknown:
            close()
            return
        }
        do {
            let watch = try loop.loop.watchCopy(of: process, for: .readable) { _ in self.end(dead: true) }
            loopSide.withLock { $0.deathWatch = watch }
            loop.setAlarm(for: self, at: MonotonicClock.nanoseconds().addingSaturating(Self.deathPatience)) {
                $0.end(dead: false)
            }
        } catch {
            // No descriptor is left to wait with.
            close()
        }
        Glibc.close(process)
    }

    /// Ends the bytes behind those that are there: the child has ended, and its own children may have its socket. The
    /// loop's thread.
    func processHasEnded() {
        // With a watch, the descriptor is open.
        if loopSide.withLock({ $0.watch != nil }) { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func end(dead: Bool) {
        guard let watch = loopSide.withLock({ $0.deathWatch.take() }) else { return }
        watch.close()
        loop.setAlarm(for: self, at: nil) { _ in }
        connection.lose(dead ? .peerDied(pid: connection.peer.pid) : nil)
        close()
    }

    private enum PeerProcess {
        /// A descriptor, which the caller closes.
        case open(Int32)
        /// The process has ended, and its parent has seen that.
        case ended
        /// The kernel is too old.
        case unknown
    }

    private var processOfPeer: PeerProcess {
        if let child {
            let copy = fcntl(child.descriptor, F_DUPFD_CLOEXEC, 0)
            return copy >= 0 ? .open(copy) : .unknown
        }
        var process: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        let peerProcess: Int32 = 77  // SO_PEERPIDFD, Linux 6.5
        guard unsafe getsockopt(descriptor, SOL_SOCKET, peerProcess, &process, &length) == 0 else {
            return errno == ESRCH || errno == EINVAL ? .ended : .unknown
        }
        return process >= 0 ? .open(process) : .unknown
    }

    private func close() {
        let isFirst = output.withLock { output in
            defer { output = Output(isBlocked: true, isClosed: true) }
            return !output.isClosed
        }
        guard isFirst else { return }
        loop.setAlarm(for: self, at: nil) { _ in }
        connection.lose(nil)
        let (watch, deathWatch) = loopSide.withLock { side in
            side.buffer = []
            return (side.watch.take(), side.deathWatch.take())
        }
        watch?.close()
        deathWatch?.close()
        connection.detach()
        Glibc.close(descriptor)
    }
}
