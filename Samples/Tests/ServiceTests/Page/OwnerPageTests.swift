import Backup
import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite(
    "The page of an owner, in Chromium",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(if: Browser.path != nil, "Chromium is not installed")
)
struct OwnerPageTests {
    let world: HostingWorld

    init() throws {
        world = try HostingWorld()
        try world.served.write(
            "docs/plan.txt",
            String(repeating: "line\n", count: 60) + "needle here\n" + String(repeating: "more\n", count: 300)
                + "needle again\n")
        try world.served.write("note.txt", "one\nserved\nthree\n")
        try world.served.write("photo of Berlin.jpg", bytes: [0xFF, 0xD8, 0xFF, 0])
        try world.state.write("other/note.txt", "one\nother\nthree\n")
    }

    private func start() async throws -> ServiceProcess {
        let repository = try Repository.open(at: world.repository, passphrase: Array(HostingWorld.passphrase.utf8))
        _ = try await BackupRun(repository, folder: world.served.path).run()
        try world.served.write("docs/plan.txt", try world.served.read("docs/plan.txt") + "end\n")
        return try world.start(world.backup + world.sync + ["--governor", "off"])
    }

    private func openHome(_ service: ServiceProcess, _ browser: Browser) throws {
        try browser.open(service.address)
        try browser.wait(until: "document.querySelector('#home').innerText.includes('1 conflict')")
    }

    @Test(
        "a line at the top says how things are, each part leads to its view, and pictures for the documentation are taken"
    )
    func showsHome() async throws {
        let service = try await start()
        let browser = try Browser(width: 1000, height: 700)
        try openHome(service, browser)
        try browser.wait(until: "document.querySelector('#home').innerText.includes('Saved just now')")
        #expect(try browser.text("#home").contains("not checked yet") || browser.text("#home").contains("checked"))
        #expect(
            try browser.evaluate("[...document.querySelectorAll('#home li')].every(e => e.querySelector('a'))") as? Bool
                == true)
        let words = try browser.evaluate("document.body.innerText") as? String ?? ""
        for word in ["Workload", "Lane", "Promote", "FTS5"] { #expect(!words.contains(word), "\(word)") }
        try picture("conflicts", browser) {
            try browser.evaluate(
                "[...document.querySelectorAll('#home a')].find(a => a.innerText === '1 conflict').click()")
            try browser.wait(until: "document.querySelector('#conflicts h3')?.innerText === 'note.txt'")
            try browser.click("#conflicts button")
            try browser.wait(until: "document.querySelectorAll('#conflicts .differs').length === 2")
        }
        #expect(try browser.text("#conflicts .beside").contains("served"))
        for (place, text) in [(0, "other"), (1, "served")] {
            let link = "document.querySelectorAll('#conflicts a[download]')[\(place)].href"
            #expect((try browser.evaluate("fetch(\(link)).then(a => a.text())") as? String)?.contains(text) == true)
        }
        try picture("activity", browser) {
            try browser.click("#to-activity")
            try browser.wait(until: "document.querySelectorAll('#activity li h3').length >= 2")
            try browser.wait(until: "document.querySelector('#doing').innerText === 'Nothing.'")
        }
        try picture("snapshots", browser) {
            try browser.click("#to-snapshots")
            try browser.wait(until: "document.querySelectorAll('#snapshots li').length >= 2")
            try browser.click("#snapshots li a + a")
            try browser.wait(until: "document.querySelector('#snapshots').innerText.includes('changed: docs/plan.txt')")
        }
        // Any other snapshot can be compared with.
        try browser.evaluate("history.back()")
        try browser.wait(until: "document.querySelector('#snapshots h2')?.innerText === 'Snapshots'")
        try browser.evaluate(
            """
            { const list = document.querySelector('#snapshots li:last-child select'); list.value = list.options[1].value
            list.dispatchEvent(new Event('change')) }
            """)
        try browser.wait(until: "document.querySelector('#snapshots h2')?.innerText.startsWith('Changes from')")
        try browser.evaluate("history.back()")
        try browser.wait(until: "document.querySelector('#snapshots h2')?.innerText === 'Snapshots'")
        let phone: [String: Any] = ["width": 320, "height": 700, "deviceScaleFactor": 2, "mobile": true]
        try browser.call("Emulation.setDeviceMetricsOverride", phone)
        for view in ["snapshots", "conflicts", "activity", "search"] {
            try browser.click("#to-\(view)")
            try browser.wait(until: "document.querySelector('#to-\(view)').getAttribute('aria-current') === 'page'")
            #expect(
                try browser.evaluate("document.documentElement.scrollWidth <= 320") as? Bool == true, "\(view)")
        }
    }

    @Test("a hit opens with its matches, one after the other, can be downloaded, and has its earlier versions")
    func usesHit() async throws {
        let service = try await start()
        try service.status { $0.pending == 0 && $0.state == "idle" && $0.files > 0 }
        let browser = try Browser(width: 1000, height: 1050)
        try openHome(service, browser)
        try browser.open("http://127.0.0.1:\(service.port)/?q=needle")
        try browser.wait(until: "document.querySelectorAll('#hits li').length === 1")
        try browser.wait(until: "home.state !== null")
        try browser.click("#hits h3 a")
        try browser.wait(until: "document.querySelector('#lines [aria-current] mark')?.innerText === 'needle'")
        #expect(
            try browser.evaluate("location.search.includes('file=docs%2Fplan.txt')") as? Bool == true, "by its path")
        #expect(try browser.text("#file-tools").contains(world.served.path + "/docs/plan.txt"))
        let next = "[...document.querySelectorAll('#file-tools a')].find(a => a.innerText === 'Next match')"
        try browser.evaluate("\(next).click()")
        try browser.wait(until: "document.querySelector('#lines [aria-current]')?.innerText.includes('needle again')")
        try browser.wait(until: "\(next).getAttribute('aria-disabled') === 'true'")
        let download =
            try browser.evaluate(
                "fetch(document.querySelector('#file-tools a[download]').href).then(a => a.text())") as? String
        #expect(download == (try world.served.read("docs/plan.txt")))
        try browser.click("#versions summary")
        try browser.wait(until: "document.querySelectorAll('#versions li').length >= 1")
        let old = "document.querySelector('#versions li:last-child a[download]').href"
        let version = try browser.evaluate("fetch(\(old)).then(a => a.text())") as? String
        #expect(version?.hasSuffix("needle again\n") == true, "the version before the last change")
        try browser.evaluate("document.querySelector('#file').scrollIntoView()")
        try picture("file", browser) {}
        try browser.evaluate(
            "[...document.querySelectorAll('#file-tools a')].find(a => a.innerText === 'Show the folder').click()")
        try browser.wait(
            until:
                "document.querySelector('#query').value === 'path:\"docs/\"' && document.querySelectorAll('#hits li').length === 1"
        )

        // A restore goes to a new folder, and its end is told beside the button.
        try browser.evaluate("window.prompt = () => 'back'; history.back()")
        try browser.wait(until: "document.querySelector('#file').checkVisibility()")
        try browser.evaluate("document.querySelector('#versions').open = true")
        try browser.wait(until: "document.querySelector('#versions li button')")
        try browser.click("#versions li button")
        try browser.wait(until: "document.querySelector('#versions .answer').innerText.startsWith('Restored')")
        #expect(world.state.exists("restored/back/docs/plan.txt"))
        try browser.click("#to-activity")
        try browser.wait(
            until: "document.querySelector('#activity').innerText.includes('Restored docs/plan.txt to back')")

        // A long path needs no second axis on a phone.
        let phone: [String: Any] = ["width": 320, "height": 700, "deviceScaleFactor": 2, "mobile": true]
        try browser.call("Emulation.setDeviceMetricsOverride", phone)
        try browser.evaluate("history.back()")
        try browser.wait(until: "document.querySelector('#lines [aria-current]')?.checkVisibility()")
        #expect(try browser.evaluate("document.documentElement.scrollWidth <= 320") as? Bool == true)
    }

    @Test("names of pictures are found, filters list files, and a query without hits offers others as links")
    func offers() async throws {
        let service = try await start()
        try service.status { $0.pending == 0 && $0.state == "idle" && $0.files > 0 }
        let browser = try Browser()
        try openHome(service, browser)
        for query in ["berlin", "ext:jpg", "photo -needle"] {
            try browser.open("http://127.0.0.1:\(service.port)/?q=\(query)")
            try browser.wait(until: "document.querySelector('#hits h3')?.innerText.startsWith('photo of Berlin.jpg')")
        }
        try browser.open("http://127.0.0.1:\(service.port)/?q=needel")
        try browser.wait(until: "document.querySelector('#suggestions a')?.innerText === 'needle'")
        try browser.click("#suggestions a")
        try browser.wait(until: "document.querySelectorAll('#hits mark').length > 0")
        try browser.open("http://127.0.0.1:\(service.port)/?q=modified:never")
        try browser.wait(
            until: "document.querySelector('#summary.error')?.innerText.includes('no day of the calendar')")
    }

    @Test("a choice in a conflict asks first, says what it did, and the line at the top knows")
    func solvesConflict() async throws {
        let service = try await start()
        let browser = try Browser()
        try openHome(service, browser)
        try browser.click("#to-conflicts")
        try browser.wait(until: "document.querySelectorAll('#conflicts button').length === 4")
        try browser.evaluate("window.confirm = () => false")
        try browser.click("#conflicts button:nth-of-type(2)")
        try browser.wait(until: "document.querySelector('#conflicts').innerText.includes('Nothing was changed.')")
        try browser.click("#conflicts button:nth-of-type(4)")
        try browser.wait(until: "document.querySelector('#conflicts').innerText.includes('Kept both.')")
        try browser.wait(until: "!document.querySelector('#home').innerText.includes('conflict')")
        let names = try FileManager.default.contentsOfDirectory(atPath: world.served.path)
        #expect(
            names.contains("note.txt") && names.contains { $0.hasPrefix("note (") }
                && !names.contains { $0.contains(".conflict-") })
    }

    /// Takes a picture for the documentation, where the environment says.
    private func picture(_ name: String, _ browser: Browser, _ prepare: () throws -> Void) throws {
        try prepare()
        guard let folder = ProcessInfo.processInfo.environment["QOS_PAGE_PICTURES"] else { return }
        try browser.takeScreenshot("\(folder)/page-\(name).png")
    }
}
