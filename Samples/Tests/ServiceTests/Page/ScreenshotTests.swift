import Foundation
import SampleTestSupport
import Testing

/// The folder that pictures of the page are written to, if they are wanted.
private let pictures = ProcessInfo.processInfo.environment["QOS_PAGE_PICTURES"]

@Suite(
    "Pictures of the page",
    .serialized,
    .timeLimit(.minutes(3)),
    .enabled(if: pictures != nil && Browser.path != nil, "only with QOS_PAGE_PICTURES=FOLDER")
)
struct ScreenshotTests {
    @Test("every state has its picture")
    func takesPictures() throws {
        let world = try IndexWorld()
        var random = WordWorld(seed: 5)
        _ = try random.populate(world.folder, files: 1500, words: 300)
        try world.folder.write("big.txt", String(repeating: "filler words\n", count: 400_000))
        let folder = pictures ?? ""
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"],
            errors: world.state["errors"]
        )
        try service.waitUntilListening()
        let browser = try Browser()
        let base = "http://127.0.0.1:\(service.port)/"
        let word = WordWorld.words[7]
        try browser.open(service.address)
        try service.status { $0.indexed > 100 }
        try browser.open(base + "?q=\(word)")
        try browser.wait(until: "document.querySelectorAll('#hits li').length > 2")
        try browser.takeScreenshot(folder + "/indexing.png")
        try service.status { $0.pending == 0 && $0.state == "idle" }
        try browser.open(base)
        try browser.wait(until: "document.querySelector('#status').innerText.startsWith('Ready')")
        try browser.takeScreenshot(folder + "/idle.png")
        try browser.open(base + "?q=\(word)+\(WordWorld.words[8])")
        try browser.wait(until: "document.querySelectorAll('#hits li').length === 20")
        try browser.wait(until: "document.querySelector('#status').innerText.startsWith('Ready')")
        try browser.takeScreenshot(folder + "/results.png")
        for _ in 0..<4 { try browser.press("Tab", code: 9) }
        try browser.takeScreenshot(folder + "/focus.png")
        try browser.call(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": "dark"]]])
        try browser.takeScreenshot(folder + "/dark.png")
        try browser.click("#hits h3 a")
        try browser.wait(until: "document.querySelector('#lines [aria-current]')")
        try browser.takeScreenshot(folder + "/file-dark.png")
        try browser.call(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": "light"]]])
        try browser.takeScreenshot(folder + "/file.png")
        try browser.open(base + "?q=%22open&syntax=fts")
        try browser.wait(until: "document.querySelector('#summary.error')")
        try browser.takeScreenshot(folder + "/error.png")
        let phone: [String: Any] = ["width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true]
        try browser.call("Emulation.setDeviceMetricsOverride", phone)
        try browser.open(base + "?q=\(word)")
        try browser.wait(until: "document.querySelectorAll('#hits li').length === 20")
        try browser.takeScreenshot(folder + "/phone.png")
        #expect(try browser.evaluate("document.documentElement.scrollWidth <= 390") as? Bool == true)
    }
}
