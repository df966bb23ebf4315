import Foundation
import Glibc

/// The answer to one request, made over a socket of its own.
struct HTTPAnswer {
    let status: Int
    let head: String
    let body: Data

    /// Connects to the loopback address, asks for `path`, and reads until the other side closes.
    init(port: Int, path: String, method: String = "GET", fields: [String: String] = [:]) throws {
        let fields = ["Host": "localhost", "Connection": "close"].merging(fields) { $1 }
        let head = fields.map { "\($0): \($1)\r\n" }.joined()
        try self.init(LoopbackSocket(port: port), request: "\(method) \(path) HTTP/1.1\r\n\(head)\r\n")
    }

    /// Sends a request and reads until the other side closes.
    init(_ socket: LoopbackSocket, request: String) throws {
        socket.send(request)
        let answer = socket.readToEnd()
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else {
            throw ServiceProcess.Failure(message: "no answer to \(request)")
        }
        head = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
        body = Data(answer[end.upperBound...])
        status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// The body as JSON.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: body)
    }

    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// What `/search` answers.
struct SearchResult: Decodable {
    struct Hit: Decodable {
        let path: String
        let score: Double
        let snippet: String
        let display: String
        let id: Int
        let line: Int
    }

    let query: String
    let hits: [Hit]
    let total: Int
    let totalExact: Bool
    let ranked: Bool
    let complete: Bool
    let pending: Int
    let tookMs: Double
}

/// What `/status` answers, in part.
struct StatusAnswer: Decodable {
    let state: String
    let complete: Bool
    let files: Int
    let indexed: Int
    let pending: Int
    let skipped: Int
    let reasons: [String: Int]
    let notice: String?
    let reason: String?
    let truncated: Int
    let problems: [Problem]
    let limit: String?
    let conditions: Conditions?
    let decision: [String: Allowance]?

    struct Conditions: Decodable {
        let thermal: Condition
    }

    struct Condition: Decodable {
        let state: String
        let reason: String
    }

    struct Allowance: Decodable {
        let permission: String
        let reasons: [String]
    }

    struct Problem: Decodable {
        let path: String
        let reason: String
    }
}

/// What is answered to a request that is refused.
struct ErrorResult: Decodable {
    struct Detail: Decodable {
        let message: String
    }

    let error: Detail
}
