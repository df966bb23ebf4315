// The names that code blocks of the README and of `Docs/` use and do not declare. `Scripts/snippets` compiles each
// block together with this file; no target does.

import Foundation
import QoSMessages

let url = URL(filePath: "/page")
let urls = [url]
let entries = ["swift"]
let blocks = [0]

func serve() async throws {}
func rebuildIndex() async {}
func search(_ text: String) async throws -> [String] { [text] }
func fetch(_ url: URL) async throws -> String { url.path }
func count(_ text: String) async throws -> Int { text.count }
func words(in text: String) -> Int { text.count }
func export() async throws {}
func rebuild() {}
func check(_ block: Int) async throws {}
func find(_ text: String) -> [String] { [text] }
func work() {}
func thread(_ body: @escaping @Sendable () -> Void) {}
func readAll() throws -> [UInt8] { [] }

struct Thumbnail: ServiceRequest {
    typealias Reply = [UInt8]
    var path = "/photos/1.raw"
    var side = 256
}
struct Forget: ServiceMessage { var path = "/photos/1.raw" }
struct Rendered: ServiceMessage { var fraction = 0.5 }
func render(_ thumbnail: Thumbnail) async throws -> [UInt8] { [] }
func drop(_ path: String) async {}
