import Foundation
import Glibc
import Synchronization

/// Passes connections on to another port of this machine, and counts their bytes.
final class ByteRelay: Sendable {
    /// The port that takes the connections.
    let port: Int
    private let target: Int
    private let listener: Int32
    private let count = Mutex(0)

    /// Takes connections on a free port, on threads that live as long as the process.
    init(to target: Int) throws {
        self.target = target
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, size) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        guard isListening else { throw Client.Failure(message: "listen: errno \(errno)") }
        port = Int(in_port_t(bigEndian: address.sin_port))
        Thread.detachNewThread { self.takeConnections() }
    }

    /// Returns the bytes of both directions since the last call.
    func take() -> Int {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    private func takeConnections() {
        while true {
            let near = accept(listener, nil, nil)
            guard near >= 0 else { continue }
            let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = Self.address(target)
            let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    unsafe connect(far, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else {
                close(near)
                close(far)
                continue
            }
            let ends = Mutex(2)
            let pass: @Sendable (Int32, Int32) -> Void = { from, to in
                self.pass(from, to)
                let isLast = ends.withLock { ends in
                    ends -= 1
                    return ends == 0
                }
                guard isLast else { return }
                close(from)
                close(to)
            }
            Thread.detachNewThread { pass(near, far) }
            Thread.detachNewThread { pass(far, near) }
        }
    }

    /// Passes on what one side sends until it ends.
    private func pass(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let taken = unsafe read(from, &buffer, buffer.count)
            guard taken > 0 else { break }
            count.withLock { $0 += taken }
            var given = 0
            while given < taken {
                let piece = unsafe buffer.withUnsafeBytes { bytes in
                    unsafe send(to, bytes.baseAddress.map { unsafe $0 + given }, taken - given, Int32(MSG_NOSIGNAL))
                }
                guard piece > 0 else { break }
                given += piece
            }
            guard given == taken else { break }
        }
        shutdown(to, Int32(SHUT_WR))
        shutdown(from, Int32(SHUT_RD))
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
