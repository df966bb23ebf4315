import Foundation
import Glibc

/// A server in the place of an agent: it gives each request the same answer, or none.
final class FakeAgent {
    private let socket: LoopbackSocket

    var port: Int { socket.port }

    /// Listens.
    ///
    /// - Parameter answer: The bytes behind the head of each answer; nil for a server that only listens.
    init(answer: [UInt8]?) throws {
        socket = try LoopbackSocket()
        guard let answer else { return }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(answer.count)\r\nConnection: close\r\n\r\n"
        let (listener, bytes) = (socket.descriptor, Array(head.utf8) + answer)
        Thread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                defer { close(client) }
                var request = [UInt8](repeating: 0, count: 64 << 10)
                guard unsafe read(client, &request, request.count) > 0 else { continue }
                _ = unsafe send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                shutdown(client, Int32(SHUT_WR))
                // The client closes first, so no reset takes the answer away.
                while unsafe read(client, &request, request.count) > 0 {}
            }
        }.start()
    }

    deinit {
        // It wakes the thread.
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }
}
