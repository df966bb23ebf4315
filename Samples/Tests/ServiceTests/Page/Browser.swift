import Foundation
import Glibc
import SampleTestSupport

/// A page in headless Chromium, driven over its debugging pipe: messages in JSON, each ended by a zero.
final class Browser {
    struct Failure: Error {
        let message: String
    }

    /// Where Chromium is, or nil when it is not installed.
    static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let names = ["chromium", "chromium-browser", "google-chrome"]
        let candidates = names.flatMap { name in folders.map { "\($0)/\(name)" } }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    private let process = Process()
    private let folder: TemporaryFolder
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []
    private var number = 0
    private var session: String?

    /// Starts a browser with an empty page.
    init(width: Int = 1000, height: Int = 800) throws {
        folder = try TemporaryFolder()
        try folder.makePipe("in")
        try folder.makePipe("out")
        // For both directions, so that opening does not wait for the other end.
        input = unsafe Glibc.open(folder["in"], O_RDWR | O_CLOEXEC)
        output = unsafe Glibc.open(folder["out"], O_RDWR | O_CLOEXEC)
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c", #"exec "$@" 3<"$HOME/in" 4>"$HOME/out""#, "shell", Self.path ?? "", "--headless=new", "--no-sandbox",
            "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--window-size=\(width),\(height)", "--user-data-dir=\(folder["profile"])",
            "--remote-debugging-pipe",
        ]
        process.environment = ["HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let target = try call("Target.createTarget", ["url": "about:blank"])
        let attached = try call("Target.attachToTarget", ["targetId": target["targetId"] ?? "", "flatten": true])
        session = attached["sessionId"] as? String
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        close(input)
        close(output)
    }

    /// Sends a command and returns its result; what else the browser tells meanwhile is passed over.
    @discardableResult
    func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        number += 1
        var message: [String: Any] = ["id": number, "method": method, "params": parameters]
        message["sessionId"] = session
        var bytes = Array(try JSONSerialization.data(withJSONObject: message)) + [0]
        while !bytes.isEmpty {
            let count = unsafe write(input, bytes, bytes.count)
            guard count > 0 else { throw Failure(message: "write: errno \(errno)") }
            bytes.removeFirst(count)
        }
        while true {
            let answer = try receive()
            guard answer["id"] as? Int == number else { continue }
            if let error = answer["error"] { throw Failure(message: "\(method): \(error)") }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    private func receive() throws -> [String: Any] {
        while true {
            if let end = received.firstIndex(of: 0) {
                let data = Data(received[..<end])
                received.removeSubrange(...end)
                return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            }
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe read(output, &piece, piece.count)
            guard count > 0 else { throw Failure(message: "read: errno \(errno)") }
            received += piece.prefix(count)
        }
    }
}

extension Browser {
    /// The value of an expression; a promise's is waited for.
    @discardableResult
    func evaluate(_ expression: String) throws -> Any? {
        let answer = try call(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true]
        )
        if let details = answer["exceptionDetails"] { throw Failure(message: "\(expression): \(details)") }
        return (answer["result"] as? [String: Any])?["value"]
    }

    /// The text that is shown of what a selector finds first, without space around it.
    func text(_ selector: String) throws -> String {
        try evaluate("document.querySelector(\(quoted(selector)))?.innerText?.trim() ?? ''") as? String ?? ""
    }

    /// How many elements a selector finds that are shown.
    func count(_ selector: String) throws -> Int {
        try evaluate("[...document.querySelectorAll(\(quoted(selector)))].filter(e => e.checkVisibility()).length")
            as? Int ?? 0
    }

    /// Waits until a condition holds in the page, also over a change of the page.
    func wait(until condition: String) throws {
        while true {
            let expression = """
                new Promise(end => { const look = () => { let is = false; try { is = \(condition) } catch {}
                if (is) end(true); else setTimeout(look, 10) }; look() })
                """
            // A new page ends the promises of the one before.
            if (try? evaluate(expression)) as? Bool == true { return }
        }
    }

    /// Opens an address and waits until the page's script is at work.
    func open(_ address: String) throws {
        try call("Page.navigate", ["url": address])
        try wait(until: "document.readyState === 'complete' && document.querySelector('#status').textContent !== ''")
    }

    /// Clicks on what a selector finds.
    func click(_ selector: String) throws {
        try evaluate("document.querySelector(\(quoted(selector))).click()")
    }

    /// Types a text into the element that has the focus.
    func type(_ text: String) throws {
        try call("Input.insertText", ["text": text])
    }

    /// Presses a key and lets it go.
    func press(_ key: String, code: Int) throws {
        for type in ["keyDown", "keyUp"] {
            var parameters: [String: Any] = ["type": type, "key": key, "code": key, "windowsVirtualKeyCode": code]
            if key == "Enter" { parameters["text"] = "\r" }
            try call("Input.dispatchKeyEvent", parameters)
        }
    }

    /// Writes a picture of what is shown.
    func takeScreenshot(_ path: String) throws {
        let answer = try call("Page.captureScreenshot", ["format": "png"])
        guard let data = (answer["data"] as? String).flatMap({ Data(base64Encoded: $0) }) else { return }
        try data.write(to: URL(fileURLWithPath: path))
    }

    private func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "\\'") + "'"
    }
}
