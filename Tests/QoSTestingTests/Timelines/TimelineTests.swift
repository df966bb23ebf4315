import QoSCore
import QoSTesting
import Testing

@Suite("A timeline as text")
struct TimelineTests {
    @Test("is printed as it is read, aligned and filled up")
    func roundTrip() throws {
        let timeline = try Timeline(
            """
              # the first line is skipped, the next one too

              userInteractive: --aa
              bg:              bb..bb-
            """)
        #expect(timeline.description == "ui: --aa--\nbg: bb..bb")
        #expect(try Timeline(timeline.description) == timeline)
        #expect(timeline.columns == 6)
        #expect(timeline[.background]?[2] == Timeline.waiting)
        #expect(timeline["userInteractive"] == timeline[.userInteractive])
        #expect(timeline[.background]?[600] == Timeline.nothing)
        #expect(timeline[.utility] == nil)
    }

    @Test("has labels of any width, and knows which of them are classes")
    func labels() throws {
        let timeline = try Timeline("core10: a\nut: bb")
        #expect(timeline.description == "core10: a-\nut:     bb")
        #expect(timeline.rows.map(\.qosClass) == [nil, .utility])
    }

    @Test(
        "that is none is refused, with what is wrong",
        arguments: [
            ("ui", TimelineError.malformedLine("ui")), (": a", .malformedLine(": a")),
            ("u i: a", .malformedLine("u i: a")),
            ("ui: a?", .unknownMark("?")), ("ui: a b", .unknownMark(" ")), ("ui: é", .unknownMark("é")),
            ("ui: a\nuserInteractive: b", .repeatedRow("ui")),
        ])
    func malformed(_ text: String, _ error: TimelineError) {
        #expect(throws: error) { try Timeline(text) }
        #expect(error.description.count > 20)
    }

    @Test("that differs says where, row by row")
    func difference() throws {
        let timeline = try Timeline("ui: --aa\nbg: bb..bb\nut: c")
        #expect(try timeline.difference(from: "bg: bb..bb\nui: --aa-") == nil)
        let difference = try timeline.difference(from: "ui: -aaa\nbg: bb..bb")
        #expect(
            difference == """
                ui       --aa--
                expected -aaa--
                          ^
                bg       bb..bb
                """)
        #expect(try timeline.difference(from: "df: x") == "df       -\nexpected x\n         ^")
        #expect(throws: TimelineError.self) { try timeline.difference(from: "x") }
    }

    @Test("that is required throws the difference")
    func require() throws {
        let timeline = try Timeline("ui: a")
        try timeline.require("ui: a-")
        let error = #expect(throws: TimelineMismatch.self) { try timeline.require("ui: b") }
        #expect(error?.description.contains("expected b") == true)
    }

    @Test("of intervals shows what is in the middle of each column")
    func recorder() throws {
        var recorder = TimelineRecorder(labels: ["x", "y"])
        recorder.note(row: 0, mark: "a", from: 0, to: 5)
        recorder.note(row: 0, mark: "a", from: 5, to: 15)
        recorder.note(row: 0, mark: "b", from: 16, to: 24)
        recorder.note(row: 1, mark: "c", from: 14, to: 15)
        recorder.note(row: 1, mark: "d", from: 25, to: 26)
        recorder.note(row: 1, mark: "-", from: 40, to: 90)
        // Middles: 5, 15, 25.
        #expect(recorder.timeline(column: 10).description == "x: a--\ny: --d")
        #expect(recorder.timeline(column: 10, columns: 5).rows.map(\.marks.count) == [1, 3])
        #expect(recorder.timeline(column: 4).description == "x: aaaabb\ny: ---c--")
    }
}
