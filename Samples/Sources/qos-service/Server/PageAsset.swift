internal import Hummingbird

/// A file of the page. The program contains them.
enum PageAsset: CaseIterable {
    case page
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
        case .style: "/page.css"
        case .script: "/page.js"
        case .liveStyle: "/live.css"
        case .liveScript: "/live.js"
        case .homeStyle: "/home.css"
        case .homeScript: "/home.js"
        }
    }

    /// The answer.
    var response: Response {
        switch self {
        case .page: JSONResponse.data(PackageResources.index_html, type: "text/html; charset=utf-8")
        case .style: JSONResponse.data(PackageResources.page_css, type: "text/css; charset=utf-8")
        case .script: JSONResponse.data(PackageResources.page_js, type: "text/javascript; charset=utf-8")
        case .liveStyle: JSONResponse.data(PackageResources.live_css, type: "text/css; charset=utf-8")
        case .liveScript: JSONResponse.data(PackageResources.live_js, type: "text/javascript; charset=utf-8")
        case .homeStyle: JSONResponse.data(PackageResources.home_css, type: "text/css; charset=utf-8")
        case .homeScript: JSONResponse.data(PackageResources.home_js, type: "text/javascript; charset=utf-8")
        }
    }

    /// The page that asks for the token.
    static var tokenPage: Response {
        JSONResponse.data(PackageResources.token_html, type: "text/html; charset=utf-8", status: .unauthorized)
    }
}
