import Indexing
import SampleTestSupport
import Testing

@testable import qos_service

@Suite("The terminal")
struct TerminalTests {
    @Test("a rate follows a steady stream, falls to zero after it, and is none before two observations")
    func estimatesRates() {
        var estimate = RateEstimate()
        let start = ContinuousClock.now
        estimate.observe(100, at: start)
        #expect(estimate.perSecond == 0)
        for tick in 1...80 { estimate.observe(100 + tick * 50, at: start + .milliseconds(250 * tick)) }
        #expect(abs(estimate.perSecond - 200) < 1)
        for tick in 81...200 { estimate.observe(4100, at: start + .milliseconds(250 * tick)) }
        #expect(estimate.perSecond == 0)
    }

    @Test(
        "the style follows the stream, TERM and NO_COLOR",
        arguments: [
            (false, ["TERM": "xterm"], .plain), (true, ["TERM": "dumb"], .plain), (true, [:], .plain),
            (true, ["TERM": "xterm"], .live(columns: 80, isColored: true)),
            (true, ["TERM": "xterm", "NO_COLOR": ""], .live(columns: 80, isColored: true)),
            (true, ["TERM": "xterm", "NO_COLOR": "1"], .live(columns: 80, isColored: false)),
        ] as [(Bool, [String: String], TerminalStyle)]
    )
    func choosesStyle(isTerminal: Bool, environment: [String: String], style: TerminalStyle) {
        #expect(TerminalStyle(isTerminal: isTerminal, columns: 80, environment: environment) == style)
    }

    @Test("a live line replaces the one before and is never wider than the terminal")
    func cutsLines() {
        let style = TerminalStyle.live(columns: 20, isColored: false)
        #expect(style.render("short") == "\r\u{1B}[2Kshort")
        #expect(style.render(String(repeating: "x", count: 50)).count == 5 + 19)
        #expect(TerminalStyle.plain.render("short") == "short\n")
        let colored = TerminalStyle.live(columns: 40, isColored: true).render("ready  1 files")
        #expect(colored == "\r\u{1B}[2K\u{1B}[1;36mready\u{1B}[0m  1 files")
    }

    @Test("the line says what is done, how much is left and how fast it goes")
    func describesWork() throws {
        let world = try IndexWorld()
        try world.folder.write("a.txt", "alpha")
        try world.folder.write("b", bytes: [0])
        let index = try world.open()
        #expect(ProgressLine.text(index.status, rate: 0).hasPrefix("waiting for the first scan"))
        let pass = try index.makePass()
        while index.status.activity != .indexing { _ = try pass.step() }
        #expect(ProgressLine.text(index.status, rate: 12.4).hasPrefix("indexing  0 of 2 files  12 files/s"))
        #expect(ProgressLine.text(index.status, rate: 12.4, isLast: true).hasPrefix("stopped  0 of 2 files"))
        while try pass.step() != .finished {}
        #expect(ProgressLine.text(index.status, rate: 0).hasPrefix("ready  1 files indexed  1 skipped"))
    }

    @Test("an index is kept in one place per folder, by its real path")
    func locatesIndexes() throws {
        let world = try IndexWorld()
        try world.folder.makeFolder("real")
        try world.folder.makeLink("link", to: "real")
        let real = IndexLocation(folder: world.folder["real"], environment: ["HOME": "/h"])
        let link = IndexLocation(folder: world.folder["link"] + "/", environment: ["HOME": "/h"])
        #expect(real == link)
        #expect(real.directory?.hasPrefix("/h/.local/state/qos-service/") == true)
        let other = IndexLocation(folder: world.folder.path, environment: ["HOME": "/h", "XDG_STATE_HOME": "/s"])
        #expect(other.directory?.hasPrefix("/s/qos-service/") == true)
        #expect(IndexLocation(folder: "/", environment: [:]).directory == nil)
    }
}
