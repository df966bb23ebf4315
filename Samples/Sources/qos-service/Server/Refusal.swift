internal import HTTPTypes

/// An answer that is an error.
struct Refusal: Error {
    var status: HTTPResponse.Status
    var message: String
    var fields: HTTPFields = [:]
    /// Whether it only shows that a limit worked, which is no trouble of the service.
    var isLimit = false

    /// The refusal of what only the owner of the service may do.
    static let noToken = Refusal(
        status: .unauthorized, message: AccessPolicy.Refusal.noToken.description,
        fields: [.wwwAuthenticate: "Bearer"])
}

extension AccessPolicy.Refusal {
    /// The status of the answer.
    var status: HTTPResponse.Status {
        switch self {
        case .foreignHost: .misdirectedRequest
        case .severalHosts: .badRequest
        case .foreignSite: .forbidden
        case .noToken: .unauthorized
        }
    }
}
