/// The answer to a request that cannot be served.
struct ErrorResponse: Encodable {
    struct Detail: Encodable {
        let message: String
    }

    let error: Detail

    init(_ message: String) {
        error = Detail(message: message)
    }
}
