import Foundation
import Glibc
import SampleTestSupport
import Synchronization
import Testing

@testable import Indexing

@Suite("Converted files")
struct ConversionTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
        try world.folder.write("a.pdf", "alpha")
    }

    /// A converter that is a shell script. A shell reads no file by its own rights, so the script starts a shell.
    private func converter(_ script: String) throws -> DocumentConverter {
        try world.state.write("convert", "#!/bin/sh\n" + script)
        try world.state.setMode("convert", 0o755)
        return DocumentConverter(program: world.state["convert"], remedy: "Install it.")
    }

    /// Indexes with a converter, by tasks.
    private func index(_ converter: DocumentConverter, textLimit: Int = 1 << 20) async throws -> SearchIndex {
        let index = try world.open {
            $0.pdfConverter = converter
            $0.textLimit = textLimit
        }
        try await index.makePass().run(patience: .milliseconds(1))
        return index
    }

    @Test("a file is searchable by what the converter wrote, and the converter runs at nice 19")
    func converts() async throws {
        let index = try await index(try converter("cat; echo; echo omega nice$(nice) end"))
        #expect(try index.hits("alpha omega") == ["a.pdf"])
        #expect(try index.hits("nice19 end") == ["a.pdf"])
        #expect(index.status.isComplete)
        try world.folder.write("b.pdf", "beta")
        // The same in steps on a thread of the test.
        try index.runPass()
        #expect(try index.hits("beta omega") == ["b.pdf"])
    }

    @Test("a converter that fails, or is killed, is an error of that file, and is tried again only for other bytes")
    func fails() async throws {
        try world.folder.write("b.txt", "beta")
        let index = try await index(try converter("exit 3"))
        #expect(index.status.counts.reasons == ["conversion-failed": 1])
        #expect(index.status.problems.first?.detail.contains("status 3") == true)
        #expect(!index.status.isComplete)
        #expect(try index.hits("beta") == ["b.txt"])
        _ = try converter("cat")
        #expect(try index.runPass().changed == 0)
        try world.folder.write("a.pdf", "alpha more")
        #expect(try index.runPass().changed == 1)
        #expect(try index.hits("alpha") == ["a.pdf"] && index.status.isComplete)
    }

    @Test("endless output is cut at the limit of text")
    func capsOutput() async throws {
        let index = try await index(try converter("exec yes alpha"), textLimit: 100_000)
        #expect(try index.hits("alpha") == ["a.pdf"])
        #expect(index.status.counts.truncated == 1)
    }

    @Test("a converter that never ends is killed with its children")
    func limitsTime() async throws {
        var slow = try converter("sleep 1000 & sleep 1000")
        slow.time = .milliseconds(300)
        let index = try await index(slow)
        #expect(index.status.problems.first?.detail.contains("longer") == true)
    }

    @Test("processor time and memory are limited, and no file may be written")
    func limitsResources() async throws {
        var greedy = try converter("ulimit -t; ulimit -v; ulimit -f; ulimit -c")
        greedy.processorSeconds = 7
        greedy.memory = 64 << 20
        let index = try await index(greedy)
        #expect(try index.hits("\"7 65536 0 0\"", .fts) == ["a.pdf"])
        var endless = try converter("while :; do :; done")
        endless.processorSeconds = 1
        let ending = ConversionProcess(endless, limit: 100).run(STDIN_FILENO)
        guard case .failed(let reason) = ending else {
            Issue.record("\(ending)")
            return
        }
        #expect(reason.contains("processor time"))
    }

    @Test("a cancelled task kills the converter, and records nothing about the file")
    func cancels() async throws {
        let pipe = world.state["pipe"]
        try world.state.makePipe("pipe")
        // It says that it runs, then runs for ever.
        let endless = try converter("echo > \(pipe); exec sleep 1000")
        let index = try world.open { $0.pdfConverter = endless }
        let task = Task { try await index.makePass().run() }
        // Opens when the script does. A thread of its own waits.
        await onThread { _ = close(unsafe open(pipe, O_RDONLY)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(index.status.counts.pending == 1)
    }

    @Test(
        "converters that are stopped let the pass breathe at once, and their files are converted later",
        .timeLimit(.minutes(5)))
    func givesWay() async throws {
        try world.folder.write("b.pdf", "beta")
        let pipe = world.state["pipe"]
        try world.state.makePipe("pipe")
        // A reader and a writer, so that opening it waits for nobody.
        let descriptor = unsafe open(pipe, O_RDWR | O_NONBLOCK)
        defer { close(descriptor) }
        // Each says that it runs. They never end while the file is there.
        let marker = world.state["busy"]
        try world.state.write("busy", "")
        var slow = try converter("echo $$ > \(pipe); if [ -e \(marker) ]; then exec sleep 1000; fi; cat")
        slow.time = .seconds(1000)
        let index = try world.open { $0.pdfConverter = slow }
        let pass = try index.makePass()
        let conversions = pass.conversions
        let isStopped = Atomic(false)
        async let stop: Void = {
            await onThread {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&ready, 1, -1)
            }
            isStopped.store(true, ordering: .sequentiallyConsistent)
            conversions.stop()
        }()
        struct WayGiven: Error {}
        await #expect(throws: WayGiven.self) {
            try await pass.run { _ in
                if isStopped.load(ordering: .sequentiallyConsistent) { throw WayGiven() }
            }
        }
        await stop
        #expect(index.status.counts.pending == 2)
        try world.state.remove("busy")
        try await pass.run()
        #expect(try index.hits("alpha") == ["a.pdf"])
        #expect(try index.hits("beta") == ["b.pdf"])
    }

    @Test("without the program the file says what to install, and is read once it is there")
    func needsProgram() async throws {
        // Written long before it runs: a child that another test starts meanwhile may have the open file for a moment.
        try world.state.write("later", "#!/bin/sh\ncat")
        try world.state.setMode("later", 0o755)
        let missing = DocumentConverter(program: world.state["none"], remedy: "Install the package poppler-utils.")
        let index = try await index(missing)
        #expect(index.status.counts.reasons == ["converter-missing": 1])
        #expect(index.status.problems.first?.detail.contains("Install the package poppler-utils.") == true)
        #expect(try index.runPass().changed == 0)
        try world.state.rename("later", "none")
        try index.runPass()
        #expect(try index.hits("alpha") == ["a.pdf"])
    }

    @Test(
        "pdftotext itself reads a PDF, and refuses what is none",
        .enabled(if: DocumentConverter.pdftotext.path != nil))
    func readsPDF() async throws {
        let content = "BT /F1 12 Tf 72 700 Td (Zanzibar quartz) Tj ET"
        let pdf = """
            %PDF-1.4
            1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
            2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
            3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R
            /Resources <</Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>> endobj
            4 0 obj <</Length \(content.utf8.count)>> stream
            \(content)
            endstream endobj
            trailer <</Root 1 0 R>>
            """
        try world.folder.write("real.pdf", pdf)
        let index = try await index(.pdftotext)
        #expect(try index.hits("zanzibar quartz") == ["real.pdf"])
        #expect(index.status.counts.reasons == ["conversion-failed": 1])
    }
}
