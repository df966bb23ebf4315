internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore

/// Makes answers.
enum JSONResponse {
    /// Makes an answer with a value as JSON, keys in snake case.
    static func make(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        data(try encoder.encode(value), type: "application/json; charset=utf-8", status: status)
    }

    /// Makes a line of JSON.
    static func text(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Makes an answer with bytes of a media type.
    static func data(
        _ body: some Sequence<UInt8>,
        type: String,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        Response(
            status: status,
            headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}
