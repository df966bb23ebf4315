import Foundation
import QoSCore
import QoSWorkloads
import Testing

@testable import qos_service

/// The folder that pictures of the page are written to, if they are wanted.
private let pictures = ProcessInfo.processInfo.environment["QOS_PAGE_PICTURES"]

@Suite(
    "Pictures of the workloads",
    .serialized,
    .timeLimit(.minutes(3)),
    .enabled(if: pictures != nil && Browser.path != nil, "only with QOS_PAGE_PICTURES=FOLDER")
)
struct LiveScreenshotTests {
    @Test("idle, running, deferred, promoted, dead, dark and on a phone")
    func takesPictures() async throws {
        let folder = pictures ?? ""
        let live = try await LiveWorld()
        // Requests of the last minutes; before the page asks for them.
        var random = SystemRandomNumberGenerator()
        for step in (1...148).reversed() {
            for _ in 0..<20 {
                let slow = Int.random(in: 0..<40, using: &random) == 0
                let latency = Double.random(in: 0.8...2.5, using: &random) * (slow ? 9 : 1)
                live.requests.record(.milliseconds(1) * latency, at: .now - RequestHistory.step * step)
            }
        }
        let browser = try Browser(width: 900, height: 2250)
        try browser.open(live.address)
        _ = try await live.host.submit(
            Backup.self, .init(folder: "/srv"), level: .utility,
            schedule: .cron("30 2 * * *", timeZone: "Europe/Berlin"), when: [.onMainsPower])
        try browser.open(live.workAddress)
        try browser.wait(until: "document.querySelector('.badge').innerText === 'scheduled'")
        try browser.takeScreenshot(folder + "/workloads-idle.png")

        let first = try await live.host.submit(
            Steps.self, .init(folder: "/srv/photos"), when: [.thermal(atMost: .fair), .foregroundInTime])
        let second = try await live.host.submit(Backup.self, .init(folder: "/srv/photos"), after: [first])
        _ = try await live.host.submit(Steps.self, .init(folder: "/srv/films"), after: [second])
        try await live.wait(for: .running, of: first)
        try browser.wait(until: "[...document.querySelectorAll('.badge')].some(e => e.innerText === 'running')")
        try browser.takeScreenshot(folder + "/workloads-running.png")

        live.governor.monitor.overrides.thermal = .serious
        try await live.wait(for: .deferred, of: first)
        try browser.wait(until: "[...document.querySelectorAll('.badge')].some(e => e.innerText === 'deferred')")
        try browser.wait(until: "document.querySelector('#conditions tr.raised')")
        try browser.takeScreenshot(folder + "/workloads-deferred.png")

        try await second.raise(to: .userInitiated)
        try browser.wait(until: "document.querySelector('#edges .promoted')")
        try browser.takeScreenshot(folder + "/workloads-promoted.png")

        let broken = try await live.host.submit(Digest.self, .init(folder: "/"), retry: .never)
        try await live.wait(for: .dead, of: broken)
        try browser.wait(until: "[...document.querySelectorAll('.badge')].some(e => e.innerText === 'dead')")
        try browser.evaluate("document.querySelector('.state-dead').scrollIntoView({ block: 'center' })")
        try browser.takeScreenshot(folder + "/workloads-dead.png")

        try browser.evaluate("scrollTo(0, 0)")
        try browser.call(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": "dark"]]])
        try browser.takeScreenshot(folder + "/workloads-dark.png")
        let phone: [String: Any] = ["width": 390, "height": 1200, "deviceScaleFactor": 2, "mobile": true]
        try browser.call("Emulation.setDeviceMetricsOverride", phone)
        try browser.evaluate("window.before = work.state")
        try browser.wait(until: "work.state !== window.before")
        try browser.takeScreenshot(folder + "/workloads-phone.png")
        #expect(try browser.evaluate("document.documentElement.scrollWidth <= 390") as? Bool == true)
        try await live.stop()
    }
}
