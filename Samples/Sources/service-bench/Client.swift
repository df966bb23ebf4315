import Foundation
import Glibc

/// A connection that is kept open, for one request after the other. It blocks its thread.
final class Client {
    struct Failure: Error {
        let message: String
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(message: "connect: errno \(errno)") }
        var one: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(descriptor)
    }

    /// Requests a path. Returns the answer's body.
    func get(_ path: String) throws -> [UInt8] { try answer("GET", path) }

    /// Changes something, with the service's token. Returns the answer's body.
    @discardableResult
    func post(_ path: String, token: String) throws -> [UInt8] {
        try answer("POST", path, "Authorization: Bearer \(token)\r\nContent-Length: 0\r\n")
    }

    private func answer(_ method: String, _ path: String, _ fields: String = "") throws -> [UInt8] {
        let request = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
        guard unsafe send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count else {
            throw Failure(message: "send: errno \(errno)")
        }
        buffer.removeAll(keepingCapacity: true)
        var end: Int?
        var total = Int.max
        while buffer.count < total {
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count > 0 else { throw Failure(message: "read: errno \(errno) after \(buffer.count) bytes") }
            buffer += piece.prefix(count)
            if end == nil, let head = Data(buffer).range(of: Data("\r\n\r\n".utf8)) {
                end = head.upperBound
                let text = String(decoding: buffer[..<head.lowerBound], as: UTF8.self)
                guard text.hasPrefix("HTTP/1.1 200") else { throw Failure(message: String(text.prefix(60))) }
                let length = text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
                guard let length = length?.split(separator: " ").last.flatMap({ Int($0) }) else {
                    throw Failure(message: "no length")
                }
                total = head.upperBound + length
            }
        }
        return Array(buffer[(end ?? 0)...])
    }
}
