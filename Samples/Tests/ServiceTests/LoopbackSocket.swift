// The compiler finds the types of addresses in this module or in Glibc, by the order in which it loads modules.
import CNIOLinux
import Foundation
import Glibc

/// A TCP socket on the loopback address that blocks; closed at the end of its life.
final class LoopbackSocket {
    let descriptor: Int32

    /// Connects.
    convenience init(port: Int) throws {
        try unsafe self.init { descriptor, address, length in
            unsafe connect(descriptor, address, length)
        } port: {
            port
        }
    }

    /// Connects, and waits no longer than `patience` seconds for this and for each answer.
    init(port: Int, patience: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var time = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        let descriptor = descriptor
        guard unsafe Self.reach(port, { unsafe connect(descriptor, $0, $1) }) == 0 else {
            throw ServiceProcess.Failure(message: "connect: errno \(errno)")
        }
    }

    /// Begins to connect and does not wait: sends and answers fail while the other side has not accepted.
    init(connectingTo port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        let descriptor = descriptor
        _ = unsafe Self.reach(port) { unsafe connect(descriptor, $0, $1) }
    }

    /// Connects to a Unix socket; nil while nobody listens there.
    init?(path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let descriptor = descriptor
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { return nil }
    }

    /// Listens on a port that the system chooses.
    convenience init() throws {
        try unsafe self.init { descriptor, address, length in
            unsafe bind(descriptor, address, length) == 0 ? listen(descriptor, 8) : -1
        } port: {
            0
        }
    }

    private init(
        _ attach: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
        port: () -> Int
    ) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let descriptor = descriptor
        let result = unsafe Self.reach(port()) { unsafe attach(descriptor, $0, $1) }
        guard result == 0 else { throw ServiceProcess.Failure(message: "socket: errno \(errno)") }
    }

    private static func reach(_ port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe call(pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit {
        close(descriptor)
    }

    /// The port on this side.
    var port: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe getsockname(descriptor, pointer, &length)
            }
        }
        return Int(in_port_t(bigEndian: address.sin_port))
    }

    /// Ends the sending half: the other side reads its end.
    func halfClose() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Lets the end of its life cut the connection off (RST) instead of closing it in order.
    func resetAtEnd() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// Sends a short text.
    func send(_ text: String) {
        _ = unsafe Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    /// What one request is answered with, by the answer's length; the connection stays open.
    func readAnswer() -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            if let head = text.range(of: "\r\n\r\n"),
                let length = text.firstMatch(of: /(?i)content-length: (\d+)/).flatMap({ Int($0.1) }),
                text[head.upperBound...].utf8.count >= length
            {
                return text
            }
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return text }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// The next bytes; empty when the other side has closed, and nil when the time of a read has passed.
    func readPiece() -> String? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Whether the other side has closed, and not only the time of a read has passed.
    private(set) var hasEnded = false

    /// Everything until the other side closes.
    func readToEnd() -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            if count == 0 { hasEnded = true }
            guard count > 0 else { return data }
            data.append(contentsOf: buffer.prefix(count))
        }
    }
}
