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
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port()).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe attach(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw ServiceProcess.Failure(message: "socket: errno \(errno)") }
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

    /// Sends a short text.
    func send(_ text: String) {
        _ = unsafe Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    /// Everything until the other side closes.
    func readToEnd() -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return data }
            data.append(contentsOf: buffer.prefix(count))
        }
    }
}
