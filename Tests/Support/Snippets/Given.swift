// The names that code blocks of the README and of `Docs/` use and do not declare. `Scripts/snippets` compiles each
// block together with this file; no target does.

import Foundation

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
