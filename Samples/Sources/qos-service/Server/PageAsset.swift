internal import CZlib
internal import HTTPTypes
internal import Hummingbird

/// A file of the page. The program contains them.
enum PageAsset: CaseIterable {
    case page
    case baseScript
    case style
    case script
    case liveStyle
    case liveScript
    case homeStyle
    case homeScript

    /// The path of the file.
    var path: RouterPath {
        switch self {
        case .page: "/"
        case .baseScript: "/base.js"
        case .style: "/page.css"
        case .script: "/page.js"
        case .liveStyle: "/live.css"
        case .liveScript: "/live.js"
        case .homeStyle: "/home.css"
        case .homeScript: "/home.js"
        }
    }

    private var bytes: [UInt8] {
        switch self {
        case .page: PackageResources.index_html
        case .baseScript: PackageResources.base_js
        case .style: PackageResources.page_css
        case .script: PackageResources.page_js
        case .liveStyle: PackageResources.live_css
        case .liveScript: PackageResources.live_js
        case .homeStyle: PackageResources.home_css
        case .homeScript: PackageResources.home_js
        }
    }

    private var type: String {
        switch self {
        case .page: "text/html; charset=utf-8"
        case .style, .liveStyle, .homeStyle: "text/css; charset=utf-8"
        case .baseScript, .script, .liveScript, .homeScript: "text/javascript; charset=utf-8"
        }
    }

    /// The files, compressed once. A slow line has the page in a third of the time.
    private static let compressed: [PageAsset: [UInt8]] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { asset in gzip(asset.bytes).map { (asset, $0) } })

    /// Returns the answer.
    ///
    /// - Parameter accepted: The header Accept-Encoding of the request.
    func response(accepting accepted: String?) -> Response {
        let (body, isCompressed) = bytes(accepting: accepted ?? "")
        var response = JSONResponse.data(body, type: type)
        if isCompressed { response.headers[.contentEncoding] = "gzip" }
        return response
    }

    /// Returns the bytes for a client with a header Accept-Encoding.
    func bytes(accepting accepted: String) -> (bytes: [UInt8], isCompressed: Bool) {
        guard Self.acceptsGzip(accepted), let compressed = Self.compressed[self] else { return (bytes, false) }
        return (compressed, true)
    }

    /// Whether a header Accept-Encoding names gzip, and does not refuse it with a weight of zero.
    static func acceptsGzip(_ header: String) -> Bool {
        header.lowercased().split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            return parts.first == "gzip" && !parts.dropFirst().contains { $0.wholeMatch(of: /q=0(\.0*)?/) != nil }
        }
    }

    /// Compresses bytes; nil if that fails.
    static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        // The last sixteen of the window's bits ask for the form of gzip.
        let size = unsafe CInt(MemoryLayout<z_stream>.size)
        guard
            unsafe deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, UInt(bytes.count))))
        // SAFETY: both arrays live, and stay where they are, during the only call.
        return unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(output.count)
                guard unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END else { return nil }
                return unsafe Array(output.prefix(Int(stream.total_out)))
            }
        }
    }

    /// The page that asks for the token.
    static var tokenPage: Response {
        JSONResponse.data(PackageResources.token_html, type: "text/html; charset=utf-8", status: .unauthorized)
    }
}
