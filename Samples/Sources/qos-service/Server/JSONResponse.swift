internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore

/// Makes answers.
enum JSONResponse {
    /// Makes an answer with a value as JSON, keys in snake case.
    static func make(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return data(try encoder.encode(value), type: "application/json; charset=utf-8", status: status)
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
