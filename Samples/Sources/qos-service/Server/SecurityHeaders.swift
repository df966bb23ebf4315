internal import HTTPTypes

/// The headers of every answer, errors included.
///
/// With them the browser runs and shows only the page's own files, in no frame, for no other site, and keeps nothing.
enum SecurityHeaders {
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'self'; frame-ancestors 'none'
        """

    private static let fields: [(HTTPField.Name, String)] = [
        (.contentSecurityPolicy, policy), (.xContentTypeOptions, "nosniff"), (.cacheControl, "no-store"),
        (name("Referrer-Policy"), "no-referrer"), (name("Cross-Origin-Resource-Policy"), "same-origin"),
        (name("Cross-Origin-Opener-Policy"), "same-origin"), (name("X-Frame-Options"), "DENY"),
    ]

    /// Adds the headers that are missing.
    static func add(to fields: inout HTTPFields) {
        for (name, value) in Self.fields where fields[name] == nil { fields[name] = value }
    }

    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is no header's name") }
        return name
    }
}
