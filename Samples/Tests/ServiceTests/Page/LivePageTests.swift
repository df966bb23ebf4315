import Foundation
import QoSCore
import QoSWorkloads
import SampleTestSupport
import Testing

@testable import qos_service

@Suite(
    "The page of the workloads, in Chromium",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(if: Browser.path != nil, "Chromium is not installed")
)
struct LivePageTests {
    /// Opens the view of the workloads, with the token.
    private func open(_ live: LiveWorld, _ browser: Browser) throws {
        try browser.open(live.address)
        try browser.open(live.workAddress)
        try browser.wait(until: "document.querySelector('#work-summary').innerText.includes(' · ')")
    }

    @Test("the view leads to the search and back, and shows a running item with its progress and its ribbon")
    func showsRunning() async throws {
        let live = try await LiveWorld()
        let item = try await live.host.submit(Steps.self, .init(folder: "/srv/<b>photos</b>"))
        try await live.wait(for: .running, of: item)
        live.requests.record(.milliseconds(12), at: .now - RequestHistory.step)
        let browser = try Browser()
        try browser.open(live.address)
        #expect(try browser.count("#work") == 0, "the search comes first")
        try browser.click("#to-work")
        try browser.wait(until: "document.querySelector('#item-\(item.id.rawValue) .badge').innerText === 'running'")
        #expect(try browser.evaluate("location.search") as? String == "?view=work")
        #expect(try (browser.count("form"), browser.count("#results")) == (0, 0))
        try browser.wait(until: "document.querySelector('#chart .ribbon.class-background')")
        try browser.wait(until: "document.querySelector('#item-1 progress').value === 37")
        #expect(try browser.text("#item-1").contains("37 of 100 files · once · attempt 1 of 5 · has a checkpoint"))
        #expect(try browser.text("#lanes tbody tr:last-child th") == "background")
        #expect(try browser.text("#lanes tbody tr:last-child .is-running") == "1")
        try browser.click("#item-1 summary")
        try browser.wait(until: "document.querySelector('#item-1 dl').innerText.includes('photos')")
        #expect(try browser.count("#work b") == 0, "no markup of parameters")
        try browser.evaluate("history.back()")
        try browser.wait(until: "document.querySelector('form').checkVisibility()")
        #expect(try browser.count("#work") == 0)
        try await live.stop()
    }

    @Test("a condition that is not met stands at the item and among the conditions, with its thresholds and its reason")
    func showsConditions() async throws {
        let live = try await LiveWorld()
        let item = try await live.host.submit(
            Steps.self, .init(folder: "/srv"), when: [.thermal(atMost: .fair), .foregroundInTime])
        try await live.wait(for: .running, of: item)
        let browser = try Browser()
        try open(live, browser)
        live.governor.monitor.overrides.thermal = .serious
        try browser.wait(until: "document.querySelector('#item-1 .badge').innerText === 'deferred'")
        #expect(try browser.text("#item-1 .reason") == "heat is serious: simulated")
        #expect(try browser.text("#item-1 .unmet") == "needs heat at most fair: heat is serious: simulated")
        try browser.wait(until: "document.querySelector('#conditions tr.raised th').innerText === 'heat'")
        let row = try browser.text("#conditions tr.raised")
        #expect(row.contains("serious") && row.contains("simulated – defers thumbnails #1"))
        #expect(row.contains("serious at it") && row.contains("4 °C less"))
        #expect(try browser.text("#lanes tbody tr:last-child .is-deferred") == "1")
        #expect(try browser.count("#conditions tbody tr") == 3 + PressureKind.allCases.count)
        try await live.stop()
    }

    @Test("a raise on the page promotes an item and those it waits for, and the graph says so")
    func showsPromotion() async throws {
        let live = try await LiveWorld()
        let first = try await live.host.submit(Steps.self, .init(folder: "/srv"))
        let second = try await live.host.submit(Backup.self, .init(folder: "/srv"), after: [first])
        try await live.wait(for: .running, of: first)
        let browser = try Browser()
        try open(live, browser)
        try browser.wait(until: "document.querySelectorAll('#edges li').length === 1")
        #expect(try browser.text("#edges") == "backup #2 waits for thumbnails #1")
        // With the keyboard alone.
        try browser.evaluate("document.querySelector('#item-\(second.id.rawValue) [data-action=promote]').focus()")
        try browser.press("Enter", code: 13)
        try browser.wait(until: "document.querySelector('#edges .promoted')")
        #expect(
            try browser.text("#edges")
                == "backup #2 waits for thumbnails #1, which it has promoted to userInitiated")
        #expect(try browser.text("#item-1 .level").hasPrefix("background → userInitiated"))
        #expect(try browser.count("#graph path.edge.promoted") == 2)
        try browser.wait(until: "document.querySelector('#work-answer').innerText === 'backup #2: promote is done.'")
        // The button is gone; the focus stays in its place.
        #expect(
            try browser.evaluate("document.querySelector('#item-2 .buttons').contains(document.activeElement)") as? Bool
                == true)
        try await live.stop()
    }

    @Test("a dead item shows its last error, no text of it is markup, and it can be run again")
    func showsDead() async throws {
        let live = try await LiveWorld()
        let item = try await live.host.submit(Broken.self, .init(folder: "/"), retry: .never)
        try await live.wait(for: .dead, of: item)
        let browser = try Browser()
        try open(live, browser)
        try browser.wait(until: "document.querySelector('#item-1 .badge').innerText === 'dead'")
        #expect(try browser.text("#item-1 h3").hasPrefix("mail <b>digest</b> #1"))
        #expect(try browser.text("#item-1 .notice").hasPrefix("Last error: <img src=x"))
        #expect(try browser.text("#item-1 .notice .strange") == "U+202E")
        #expect(try browser.count("#work img, #work b") == 0)
        #expect(try browser.evaluate("document.title") as? String == "Details")
        try browser.click("#item-1 [data-action=run]")
        try browser.wait(until: "document.querySelector('#work-answer').innerText.endsWith('run now is done.')")
        #expect(try await live.host.snapshot(of: item.id)?.record.life.fence ?? 0 >= 1)
        try await live.stop()
    }

    @Test("without the token the view is read only; a cancellation takes two presses")
    func actsOnlyWithToken() async throws {
        let live = try await LiveWorld(isOpen: true)
        let item = try await live.host.submit(Steps.self, .init(folder: "/srv/secret"))
        try await live.wait(for: .running, of: item)
        let browser = try Browser()
        try browser.open(live.workAddress)
        try browser.wait(until: "document.querySelector('#work-summary').innerText.includes('read only')")
        #expect(try browser.count("#items button") == 0 && browser.count("#conditions") == 0)
        #expect(try browser.count("#item-1 .reason") == 0)
        try open(live, browser)
        try browser.wait(until: "document.querySelector('#item-1 [data-action=cancel]').checkVisibility()")
        try browser.click("#item-1 [data-action=cancel]")
        #expect(try browser.text("#item-1 [data-action=cancel]") == "Really cancel?")
        // A double click is one press.
        try browser.click("#item-1 [data-action=cancel]")
        try browser.wait(until: "document.querySelector('#item-1 [data-action=cancel]').dataset.sure === 'yes'")
        #expect(try await live.host.snapshot(of: item.id)?.record.state == .running)
        try browser.click("#item-1 [data-action=cancel]")
        live.gate.open()
        try browser.wait(
            until: "['cancelled', 'finished'].includes(document.querySelector('#item-1 .badge').innerText)")
        try await live.stop()
    }

    @Test("each control has a name, each table its heads, the pictures their texts, and a phone needs no second axis")
    func isAccessible() async throws {
        let live = try await LiveWorld()
        let first = try await live.host.submit(Steps.self, .init(folder: "/srv"))
        _ = try await live.host.submit(Backup.self, .init(folder: "/srv"), after: [first])
        let browser = try Browser()
        try open(live, browser)
        try browser.wait(until: "document.querySelectorAll('#items button').length > 4")
        let unnamed = """
            [...document.querySelectorAll('#work button, #work select, #work progress, #work svg')]
            .filter(e => !e.getAttribute('aria-label')).length
            """
        #expect(try browser.evaluate(unnamed) as? Int == 0)
        let headless =
            "[...document.querySelectorAll('#work table')].filter(t => !t.querySelector('thead th[scope=col]')).length"
        #expect(try browser.evaluate(headless) as? Int == 0)
        #expect(try browser.evaluate("document.querySelectorAll('h1').length") as? Int == 1)
        #expect(try browser.count("#views [aria-current=page]") == 1)
        // The state comes often: a reader must not be told each time.
        #expect(try browser.evaluate("document.querySelectorAll('#work [aria-live]').length") as? Int == 1)
        // The focus survives the states that follow.
        try browser.evaluate("document.querySelector('#item-1 select').focus(); window.before = work.state")
        try browser.wait(until: "work.state !== window.before")
        #expect(
            try browser.evaluate("document.activeElement === document.querySelector('#item-1 select')") as? Bool == true
        )
        let phone: [String: Any] = ["width": 360, "height": 700, "deviceScaleFactor": 2, "mobile": true]
        try browser.call("Emulation.setDeviceMetricsOverride", phone)
        #expect(try browser.evaluate("document.documentElement.scrollWidth <= 360") as? Bool == true)
        try await live.stop()
    }

    @Test("items beyond the live view are shown and found, several are chosen, and all of them change together")
    func choosesItems() async throws {
        let live = try await LiveWorld()
        let requests = try (0..<130).map { number in
            try WorkloadRequest(
                for: Digest.self, .init(folder: "/"), schedule: .after(.seconds(3600)), label: "letter \(number)")
        }
        let made = try await live.host.submit(requests)
        let browser = try Browser()
        try open(live, browser)
        try browser.wait(until: "document.querySelectorAll('#items > li').length === 100")
        try browser.wait(until: "document.querySelector('#more-items').checkVisibility()")
        try browser.click("#more")
        try browser.wait(until: "document.querySelectorAll('#items > li').length === 130")
        try browser.wait(until: "!document.querySelector('#more-items').checkVisibility()")
        // A text that only items beyond the view have, and one that eleven have.
        func look(for text: String, finds count: Int) throws {
            try browser.evaluate(
                "{ const field = document.querySelector('#item-filter'); field.value = '\(text)'; "
                    + "field.dispatchEvent(new Event('input')) }")
            let shown = "[...document.querySelectorAll('#items > li')].filter(e => e.checkVisibility()).length"
            try browser.wait(until: "\(shown) === \(count)")
        }
        try look(for: "letter 129", finds: 1)
        try look(for: "letter 12", finds: 11)
        try browser.click("#chosen [data-act=all]")
        #expect(try browser.text("#chosen").contains("11 selected"))
        try browser.evaluate(
            "window.confirm = () => false; document.querySelector('#chosen [data-act=cancel]').click()")
        try browser.evaluate("window.confirm = () => true; document.querySelector('#chosen [data-act=cancel]').click()")
        try browser.wait(until: "document.querySelector('#chosen .answer').innerText === 'Cancel: 11 done.'")
        for number in [12] + Array(120..<130) {
            #expect(try await live.host.snapshot(of: made[number].id)?.record.state == .cancelled)
        }
        #expect(try await live.host.snapshot(of: made[11].id)?.record.state == .scheduled)
        try browser.evaluate(
            "{ const list = document.querySelector('#item-state'); list.value = 'cancelled'; "
                + "list.dispatchEvent(new Event('change')) }")
        try look(for: "", finds: 11)
        try await live.stop()
    }

    @Test("a service that has ended is told in words")
    func tellsEnd() async throws {
        let live = try await LiveWorld()
        let browser = try Browser()
        try open(live, browser)
        try await live.stop()
        try browser.wait(until: "document.querySelector('#work-note').innerText.includes('lost the service')")
    }
}
