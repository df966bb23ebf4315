import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite(
    "The page, in Chromium",
    .serialized,
    .timeLimit(.minutes(3)),
    .enabled(if: Browser.path != nil, "Chromium is not installed")
)
struct PageTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    /// A service over the world's folder, all of it indexed.
    func service(_ more: String...) throws -> ServiceProcess {
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"] + more,
            errors: world.state["errors"]
        )
        try service.waitUntilListening()
        try service.status { $0.pending == 0 && $0.state == "idle" && $0.files > 0 }
        return service
    }

    private func writeTexts() throws {
        try world.folder.write("apart.txt", "stack of a goroutine")
        try world.folder.write("turned.txt", "goroutine and its stack")
        try world.folder.write("one.txt", "stack")
    }

    @Test("several words that are typed find the files that have all of them, in both syntaxes")
    func findsSeveralWords() throws {
        try writeTexts()
        let service = try service()
        let browser = try Browser()
        try browser.open(service.address)
        #expect(try browser.evaluate("location.search") as? String == "", "the token does not stay in the address")
        try browser.evaluate("document.querySelector('#query').focus()")
        try browser.type("stack goroutine")
        try browser.wait(until: "document.querySelectorAll('#hits li').length === 2")
        #expect(try browser.text("#summary").hasPrefix("2 files, best first"))
        #expect(try browser.count("#hits mark") == 4)
        try browser.evaluate(
            "const list = document.querySelector('#syntax'); list.value = 'fts'; list.dispatchEvent(new Event('change'))"
        )
        try browser.evaluate("document.querySelector('#query').select()")
        try browser.type("stack NOT goroutine")
        try browser.press("Enter", code: 13)
        try browser.wait(until: "document.querySelector('#hits h3')?.innerText.startsWith('one.txt:1')")
        #expect(try browser.text("#summary").hasPrefix("1 file,"))
        try browser.open("http://127.0.0.1:\(service.port)/?q=stack+goroutine")
        try browser.wait(until: "document.querySelectorAll('#hits li').length === 2")
        #expect(try browser.evaluate("document.querySelector('#query').value") as? String == "stack goroutine")
    }

    @Test("totals and pages are shown, a hit opens at its line, and going back leads through the same views")
    func walksHistory() throws {
        for number in 10..<55 {
            try world.folder.write(
                "f\(number).txt", String(repeating: "line\n", count: 300) + "needle \(number)\nend\n")
        }
        let service = try service()
        let browser = try Browser()
        try browser.open(service.address)
        try browser.evaluate("document.querySelector('#query').focus()")
        try browser.type("needle")
        try browser.wait(until: "document.querySelector('#summary').innerText.startsWith('1–20 of 45 files')")
        #expect(try (browser.count("#previous"), browser.count("#next")) == (0, 1))
        try browser.click("#next")
        try browser.wait(until: "document.querySelector('#summary').innerText.startsWith('21–40 of 45 files')")
        try browser.click("#next")
        try browser.wait(until: "document.querySelector('#summary').innerText.startsWith('41–45 of 45 files')")
        #expect(try (browser.count("#previous"), browser.count("#next")) == (1, 0))
        try browser.click("#hits h3 a")
        try browser.wait(until: "document.querySelector('#lines [aria-current]')?.innerText.includes('needle')")
        #expect(try browser.text("#lines [aria-current] span").hasPrefix("301"))
        #expect(try browser.count("#hits li") == 0)
        #expect(
            try browser.evaluate(
                "document.querySelector('#lines [aria-current]').getBoundingClientRect().top < innerHeight") as? Bool
                == true)
        try browser.evaluate("history.back()")
        try browser.wait(
            until:
                "document.querySelector('#results').checkVisibility() && document.querySelector('#summary').innerText.startsWith('41–45')"
        )
        try browser.evaluate("history.go(-2)")
        try browser.wait(until: "document.querySelector('#summary').innerText.startsWith('1–20')")
        try browser.evaluate("history.back()")
        try browser.wait(until: "document.querySelector('#summary').innerText.startsWith('All words')")
        #expect(try browser.evaluate("document.querySelector('#query').value") as? String == "")
    }

    @Test("names and texts cannot deceive: no markup, no turned direction, no hidden or broken characters")
    func showsNamesAsTheyAre() throws {
        let image = "<img src=x onerror=document.title='broken'>"
        try world.folder.write("evil\u{202E}fdp.txt", "needle \u{202E}drawkcab\u{202C} \(image) ⟦no match⟧")
        try world.folder.write("<b>bold<b>", "needle")
        let raw = (Array((world.folder.path + "/raw").utf8) + [0xFF, 0]).map { CChar(bitPattern: $0) }
        let descriptor = unsafe open(raw, O_CREAT | O_WRONLY, 0o600)
        #expect(unsafe write(descriptor, "needle", 6) == 6)
        close(descriptor)
        let service = try service()
        let browser = try Browser()
        try browser.open(service.address)
        try browser.open("http://127.0.0.1:\(service.port)/?q=needle")
        try browser.wait(until: "document.querySelectorAll('#hits li').length === 3")
        let paths = try browser.evaluate("[...document.querySelectorAll('#hits h3 a')].map(a => a.textContent).sort()")
        #expect(paths as? [String] == ["<b>bold<b>:1", #"evil\u{202E}fdp.txt:1"#, #"raw\xFF:1"#])
        #expect(try browser.count("#hits img, #hits b") == 0)
        #expect(try browser.evaluate("/[\\u202a-\\u202e]/.test(document.body.textContent)") as? Bool == false)
        #expect(try browser.text("#hits .strange") == "U+202E")
        let marks = try browser.evaluate("[...document.querySelectorAll('#hits mark')].map(m => m.textContent)")
        #expect(marks as? [String] == ["needle", "needle", "needle"])
        #expect(try browser.evaluate("document.title") as? String == "needle – Search")
    }

    @Test("the state stands above the results, problems are listed, and each field and part has its name")
    func isAccessible() throws {
        try writeTexts()
        try world.folder.write("big.txt", String(repeating: "filler words\n", count: 400_000))
        let service = try service()
        let browser = try Browser()
        try browser.open(service.address)
        try browser.wait(until: "document.querySelector('#problems').checkVisibility()")
        #expect(try browser.text("#problems-summary") == "1 file is indexed in part")
        #expect(
            try browser.evaluate("document.querySelector('#problems-list').textContent") as? String
                == "big.txt: truncated")
        let isAbove = "document.querySelector('#index').compareDocumentPosition(document.querySelector('#hits')) & 4"
        #expect(try browser.evaluate(isAbove) as? Int == 4)
        #expect(
            try browser.evaluate("[...document.querySelectorAll('input, select')].every(e => e.labels.length === 1)")
                as? Bool == true)
        for selector in ["h1", "main", "header", "form[role=search]", "html[lang=en]", "noscript"] {
            #expect(try browser.evaluate("document.querySelectorAll('\(selector)').length") as? Int == 1, "\(selector)")
        }
        // Each view has one; that of the other view is hidden.
        let spoken = "[...document.querySelectorAll('[role=status][aria-live]')].filter(e => e.checkVisibility())"
        #expect(try browser.evaluate("\(spoken).length") as? Int == 1)
        // The style sheet is the page's own, and allowed.
        #expect(try browser.evaluate("getComputedStyle(document.querySelector('form')).display") as? String == "flex")
        // From the field on, the keyboard reaches the list of syntaxes and the button.
        try browser.evaluate("document.querySelector('#query').focus()")
        try browser.press("Tab", code: 9)
        #expect(try browser.evaluate("document.activeElement.id") as? String == "syntax")
    }

    @Test("errors are told in words: a bad query, and a service that has ended")
    func tellsErrors() throws {
        try writeTexts()
        let service = try service()
        let browser = try Browser()
        try browser.open(service.address)
        try browser.open("http://127.0.0.1:\(service.port)/?q=%22open&syntax=fts")
        try browser.wait(until: "document.querySelector('#summary.error')")
        #expect(try browser.text("#summary").contains("double quotes"))
        service.send(SIGTERM)
        _ = service.wait()
        try browser.wait(until: "document.querySelector('#status').innerText.includes('does not answer')")
        #expect(try browser.evaluate("document.querySelector('#status').className") as? String == "error")
        try browser.click("form button")
        try browser.wait(until: "document.querySelector('#summary').innerText.includes('does not answer')")
    }

    @Test("without words the page says how to search; while an answer is not there, that it searches")
    func tellsWhatItWaitsFor() throws {
        try writeTexts()
        let service = try service()
        let browser = try Browser()
        try browser.open(service.address)
        try browser.wait(until: "document.querySelector('#summary').innerText.startsWith('All words')")
        try browser.open("http://127.0.0.1:\(service.port)/?syntax=fts")
        try browser.wait(until: "document.querySelector('#summary').innerText.includes('one AND two')")
        // A search without an end, in a page whose other questions are answered.
        _ = try browser.evaluate(
            "{ const real = fetch; window.fetch = (to, more) => to.startsWith('search') ? new Promise(() => {}) : real(to, more) }"
        )
        try browser.type("fox")
        try browser.wait(until: "document.querySelector('#summary').innerText === 'Searching…'")
        #expect(try browser.evaluate("document.querySelector('#hits').className") as? String == "old")
        _ = try browser.evaluate("document.querySelector('#query').value = ''")
        try browser.click("form button")
        try browser.wait(until: "document.querySelector('#hits').className === ''")
    }
}
