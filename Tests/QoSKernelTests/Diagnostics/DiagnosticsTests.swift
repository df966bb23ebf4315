import CQoSShims
import CQoSTestSupport
import Glibc
import QoSCore
import QoSFileTestSupport
import QoSTesting
import Synchronization
import Testing

@testable import QoSKernel

/// A mapping in a file of a temporary folder, as a process with `QOS_DIAGNOSTICS=FOLDER` has it.
final class MadeMapping {
    let mapping: DiagnosticsMapping
    let path: String
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("qos-mapping")
        path = folder["qos-diagnostics-7"]
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(ftruncate(descriptor, off_t(DiagnosticsLayout.size)) == 0)
        let memory = unsafe mmap(nil, DiagnosticsLayout.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        // Never unmapped, as the mapping wants it.
        mapping = unsafe DiagnosticsMapping(try #require(memory))
    }

    func picture() throws -> DiagnosticsPicture { try DiagnosticsReader(file: path).picture() }
}

@Suite("The memory that a process shows", .tags(.kernel), .timeLimit(.minutes(5)))
struct DiagnosticsTests {
    @Test("what is written to a worker's line, a class and a ring is read again")
    func roundTrip() throws {
        let made = try MadeMapping()
        let slot = DiagnosticsSlot(number: 3, workers: [2, 2, 2, 200, 2], in: made.mapping)
        slot.set(DiagnosticsLayout.Slot.processors, 2)
        slot.set(DiagnosticsLayout.Slot.lookedAt, 17)
        let words = slot.classWords(rank: 3)
        unsafe words[DiagnosticsLayout.Class.lines].pointee.store(2, ordering: .relaxed)
        unsafe words[DiagnosticsLayout.Class.stalls].pointee.store(5, ordering: .relaxed)
        let line = slot.line(rank: 3, index: 1)
        line.thread(4711)
        for _ in 0..<6 { line.ends(line.begins(DiagnosticsLayout.Line.task)) }
        let step = line.begins(DiagnosticsLayout.Line.item)
        #expect(line.queue(made.mapping.number(of: "ledger")) == 0)
        line.seen(in: line.step, at: 99)
        line.promoted(to: .userInteractive, .lock, by: WorkID(slot: 3, rank: 4, worker: 0, steps: 9).rawValue)
        line.blocked(isDeclared: true)
        let ring = Atomic<Int>(0)
        for time in UInt64(1)...3 {
            made.mapping.write(
                DiagnosticsRecord(
                    .stalledComputing, from: .utility, time: time, work: WorkID(rawValue: 0), payload: 2_000_000),
                place: ring, owner: WorkID(slot: 3, rank: 3, worker: 1, steps: 0))
        }

        let picture = try made.picture()
        let scheduler = try #require(picture.schedulers.first)
        #expect(picture.schedulers.count == 1 && scheduler.number == 3 && scheduler.isOpen && scheduler.processors == 2)
        let initiated = scheduler.classes[1]
        #expect(initiated.qosClass == .userInitiated && initiated.stalls == 5 && initiated.workers == 1)
        #expect(initiated.jobsEnded == 6 && initiated.running == 0 && initiated.blocked == 1)
        let worker = try #require(scheduler.workers.last)
        #expect(worker.name == "qos-in-1" && worker.thread == 4711 && worker.isRunning && worker.kind == "item")
        #expect(worker.work == "3/in-1#7" && worker.label == "ledger" && worker.seenAt == 99)
        #expect(worker.promotedTo == .userInteractive && worker.promotionReason == "lock")
        #expect(worker.promotedBy == "3/ui-0#5" && worker.blocked == "declared")
        #expect(picture.events.map(\.time) == [1, 2, 3] && picture.events.first?.text == "for 2 ms")

        // A label goes before that of the queue; the next job has neither.
        line.label(made.mapping.number(of: "inner"))
        #expect(try made.picture().schedulers.first?.workers.last?.label == "inner")
        line.ends(step)
        _ = line.begins(DiagnosticsLayout.Line.task)
        #expect(line.labelNumber == 0)
        unsafe "reindex".withCString { unsafe line.name($0) }
        let next = try #require(try made.picture().schedulers.first?.workers.last)
        #expect(next.label == "reindex" && next.promotedTo == nil && next.blocked == nil && next.seenAt == nil)
        slot.leave()
        #expect(try made.picture().schedulers.first?.isOpen == false)
    }

    @Test("a step is odd while a job runs, also after a fork in the midst of one; kind and labels hold for one job")
    func steps() throws {
        let made = try MadeMapping()
        let slot = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
        let line = slot.line(rank: 0, index: 0)
        _ = line.begins(DiagnosticsLayout.Line.item)
        line.label(7)
        // The child's copy of the word is that of a job that its thread does not run.
        let step = line.begins(DiagnosticsLayout.Line.actor)
        #expect(step & 1 == 1 && line.step == step && line.ownLabels == step << 32)
        line.queue(9)
        #expect(line.labelNumber == 9 && line.label(3) == 0 && line.labelNumber == 3)
        line.ends(step)
        #expect(line.step == step + 1 && line.labelNumber == 0)
        slot.leave()
    }

    @Test("a worker beyond those that are shown counts in memory of its own, and so does a scheduler without a number")
    func unseen() throws {
        let made = try MadeMapping()
        let slot = DiagnosticsSlot(number: 1, workers: [130, 0, 0, 0, 129], in: made.mapping)
        for (rank, index) in [(0, 128), (0, 129), (4, 128)] {
            let line = slot.line(rank: rank, index: index)
            _ = line.begins(DiagnosticsLayout.Line.task)
            #expect(!line.isShown && line.step == 1)
        }
        #expect(slot.line(rank: 0, index: 127).isShown)
        for (number, mapping) in [(0, made.mapping), (2, nil)] as [(Int, DiagnosticsMapping?)] {
            let hidden = DiagnosticsSlot(number: number, workers: [1, 1, 1, 1, 1], in: mapping)
            let line = hidden.line(rank: 4, index: 0)
            _ = line.begins(DiagnosticsLayout.Line.task)
            #expect(!line.isShown && line.step == 1 && hidden.mapping == nil)
        }
        #expect(try made.picture().schedulers.map(\.number) == [1])
    }

    @Test("a scheduler finds nothing of the one that had its number before")
    func reused() throws {
        let made = try MadeMapping()
        for _ in 0..<2 {
            let slot = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
            unsafe slot.classWords(rank: 0)[DiagnosticsLayout.Class.lines].pointee.max(1, ordering: .relaxed)
            let line = slot.line(rank: 0, index: 0)
            #expect(line.step == 0 && line.labelNumber == 0)
            _ = line.begins(DiagnosticsLayout.Line.task)
            line.label(made.mapping.number(of: "old"))
            slot.leave()
        }
    }

    @Test("texts are kept once, cut to their room, and lost beyond half of the table, which leaves room for literals")
    func texts() throws {
        let made = try MadeMapping()
        #expect(
            made.mapping.number(of: "a") == 1 && made.mapping.number(of: "b") == 2 && made.mapping.number(of: "a") == 1)
        let long = String(repeating: "ä", count: 60)
        for text in [long] + (0..<1100).map({ "text \($0)" }) { _ = made.mapping.number(of: text) }
        #expect(made.mapping.number(of: "one more") == 0)
        for text in 0..<600 { _ = made.mapping.number(of: "literal \(text)", isLiteral: true) }
        #expect(made.mapping.number(of: "literal 0", isLiteral: true) == 513)
        let slot = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
        unsafe slot.classWords(rank: 0)[DiagnosticsLayout.Class.lines].pointee.store(1, ordering: .relaxed)
        _ = slot.line(rank: 0, index: 0).begins(DiagnosticsLayout.Line.task)
        slot.line(rank: 0, index: 0).label(made.mapping.number(of: long))
        let picture = try made.picture()
        #expect(picture.schedulers.first?.workers.first?.label?.hasPrefix(String(repeating: "ä", count: 31)) == true)
        #expect(picture.stringsLost == 1100 - (512 - 3) + 1 + 600 - (1023 - 512))
        slot.leave()
    }

    @Test("a promotion that was taken back is no longer shown, and one that was lowered is shown as it is")
    func lowered() throws {
        let made = try MadeMapping()
        let slot = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
        unsafe slot.classWords(rank: 0)[DiagnosticsLayout.Class.lines].pointee.store(1, ordering: .relaxed)
        let line = slot.line(rank: 0, index: 0)
        func worker() throws -> DiagnosticsPicture.Worker? { try made.picture().schedulers.first?.workers.first }
        _ = line.begins(DiagnosticsLayout.Line.task)
        line.promoted(to: .userInteractive, .queue, by: 0)
        line.lowered(to: .utility)
        #expect(try worker()?.promotedTo == .utility && worker()?.promotionReason == "queue")
        line.lowered(to: nil)
        #expect(try worker()?.promotedTo == nil && worker()?.isRunning == true)
        slot.leave()
    }

    @Test("a new owner takes the ring that was left first")
    func ringsInOrder() throws {
        let made = try MadeMapping()
        let first = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
        let second = DiagnosticsSlot(number: 2, workers: [1, 1, 1, 1, 1], in: made.mapping)
        func write(_ slot: Int, _ worker: Int) {
            let owner = WorkID(slot: slot, rank: 1, worker: worker, steps: 0)
            let place = Atomic<Int>(0)
            made.mapping.write(
                DiagnosticsRecord(.promotedRunning, time: 1, work: owner), place: place, owner: owner)
        }
        for worker in 0..<60 { write(2, worker) }
        for worker in 0..<67 { write(1, worker) }
        first.leave()
        second.leave()
        for worker in 0..<67 { write(3, worker) }
        let works = try made.picture().events.map(\.work)
        let (kept, new) = (works.filter { $0.hasPrefix("2/") }, works.filter { $0.hasPrefix("3/") })
        #expect(kept.count == 60 && new.count == 67 && works.count == 127)
    }

    @Test("a ring has its last records, whole, after many turns; without a ring the shared one is used")
    func rings() throws {
        let made = try MadeMapping()
        let places = (0..<130).map { _ in Box(Atomic<Int>(0)) }
        for (index, place) in places.enumerated() {
            for time in 0..<(index == 0 ? 5000 : 1) {
                made.mapping.write(
                    DiagnosticsRecord(
                        .promotedRunning, from: .utility, to: .userInitiated, detail: 1, time: UInt64(time),
                        work: WorkID(slot: 1, rank: 1, worker: index, steps: 1)),
                    place: place.value, owner: WorkID(slot: 1, rank: 1, worker: index, steps: 0))
            }
        }
        let picture = try made.picture()
        #expect(picture.ringsLost == 3)
        let first = picture.events.filter { $0.work == "1/ut-0#1" }.map(\.time)
        #expect(first == Array(UInt64(5000 - DiagnosticsLayout.recordsOfRing)..<5000))
        #expect(picture.events.count == DiagnosticsLayout.recordsOfRing + 129)
        #expect(picture.events.allSatisfy { $0.from == .utility && $0.to == .userInitiated && $0.text == "awaited" })
    }

    private final class Box {
        let value: Atomic<Int>

        init(_ value: consuming Atomic<Int>) { self.value = value }
    }

    @Test("a reader never sees the words of one job with the number of another")
    func racing() throws {
        let made = try MadeMapping()
        let slot = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
        unsafe slot.classWords(rank: 0)[DiagnosticsLayout.Class.lines].pointee.store(1, ordering: .relaxed)
        let line = slot.line(rank: 0, index: 0)
        let labels = (0..<8).map { made.mapping.number(of: "label \($0)") }
        let (isOver, isEven) = (Flag(), Flag())
        let writer = try Thread(name: "writer") {
            var job = 0
            while !isOver.isUp.load(ordering: .relaxed) {
                job += 1
                let step = line.begins(DiagnosticsLayout.Line.task)
                // Half of the jobs have a label, the others a name.
                if job % 2 == 0 {
                    line.label(labels[job % 8])
                } else {
                    unsafe "label \(job % 8)".withCString { unsafe line.name($0) }
                }
                line.seen(in: line.step, at: UInt64(job))
                line.promoted(to: .utility, .queue, by: UInt64(job))
                // Some jobs last, so that a reader finds one.
                for _ in 0..<(job % 63 == 0 ? 20_000 : 0) { _ = isEven.isUp.load(ordering: .sequentiallyConsistent) }
                line.ends(step)
            }
        }
        var seen = 0
        let reader = try DiagnosticsReader(file: made.path)
        for _ in 0..<2000 {
            let worker = try #require(reader.picture().schedulers.first?.workers.first)
            guard worker.isRunning, !worker.isChanging, let work = worker.work,
                let job = Int(work.drop { $0 != "#" }.dropFirst())
            else { continue }
            if let label = worker.label {
                seen += 1
                #expect(label == "label \(job % 8)")
            }
            if let time = worker.seenAt { #expect(time == UInt64(job)) }
            if worker.promotedTo != nil { #expect(worker.promotedBy == "thread \(job)") }
        }
        isOver.isUp.store(true, ordering: .relaxed)
        try writer.join()
        #expect(seen > 0)
        slot.leave()
    }

    @Test(
        "random words in the place of a mapping give some picture, and end nothing",
        arguments: 1...40 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let choices: [UInt64] = [0, 0, 1, 1, 2, 3, 127, 128, 129, 1023, 1024, .max, .max - 1, 1 << 63, 1 << 32 | 1]
        let pool = (0..<8191).map { _ in
            Bool.random(using: &random)
                ? choices[Int.random(in: 0..<choices.count, using: &random)]
                : UInt64.random(in: 0 ... .max, using: &random)
        }
        let picture = DiagnosticsPicture { word, count in
            #expect(word >= 0 && count >= 0 && word + count <= DiagnosticsLayout.words, "read beyond the layout")
            // Lines are the same twice, now and then.
            let shift = seed % 3 == 0 ? 0 : Int.random(in: 0..<2, using: &random)
            return (0..<count).map { pool[(word + $0 + shift) % pool.count] }
        }
        #expect(picture.schedulers.count < DiagnosticsLayout.slotCount)
        #expect(picture.schedulers.allSatisfy { $0.workers.count <= 5 * DiagnosticsLayout.linesOfClass })
        _ = picture.latest
    }

    @Test("a file that is cut short, of another version, or none at all is read as far as it makes sense")
    func otherFiles() throws {
        let made = try MadeMapping()
        let slot = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
        unsafe slot.classWords(rank: 0)[DiagnosticsLayout.Class.lines].pointee.store(1, ordering: .relaxed)
        slot.leave()
        let folder = try TemporaryFolder("qos-files")
        var start = [UInt8](repeating: 0, count: 200_000)
        let descriptor = unsafe open(made.path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(unsafe pread(descriptor, &start, start.count, 0) == start.count)
        func write(_ bytes: ArraySlice<UInt8>) throws -> String {
            try folder.write("file", "")
            let file = unsafe open(folder["file"], O_WRONLY | O_TRUNC | O_CLOEXEC)
            defer { close(file) }
            try #require(unsafe pwrite(file, Array(bytes), bytes.count, 0) == bytes.count)
            return folder["file"]
        }
        for length in [8, 100, 4096, 4097, 69_700, 135_300, 150_003] {
            let picture = try DiagnosticsReader(file: write(start[..<length])).picture()
            #expect(picture.schedulers.count == (length > 70_656 ? 1 : 0))
        }
        for length in [0, 7] {
            #expect(throws: DiagnosticsReader.Problem.noMapping(folder["file"])) {
                try DiagnosticsReader(file: write(start[..<length]))
            }
        }
        start[7] = 9
        #expect(throws: DiagnosticsReader.Problem.otherVersion(9)) { try DiagnosticsReader(file: write(start[...])) }
        #expect(throws: DiagnosticsReader.Problem.self) { try DiagnosticsReader(file: "/dev/null") }
        #expect(throws: DiagnosticsReader.Problem.self) { try DiagnosticsReader(file: folder["none"]) }
        #expect(unsafe mkfifo(folder["pipe"], 0o600) == 0)
        #expect(throws: DiagnosticsReader.Problem.self) { try DiagnosticsReader(file: folder["pipe"]) }
    }

    @Test("the memory of this process is found, a forked child does not count into it, and others cannot write to it")
    func shared() throws {
        guard let mapping = DiagnosticsMapping.process else { return }
        let reader = try DiagnosticsReader(process: "self", id: getpid())
        #expect(reader.picture().process == UInt64(getpid()))
        #expect(reader.picture().started == ThreadUsage.startOfProcess("self"))
        // The runtime's own wake-ups: a word that nobody else in this program counts.
        let word = unsafe mapping.timers + (2 * TimerCounts.owners - 1)
        let before = unsafe word.pointee.load(ordering: .relaxed)
        let inChild = unsafe cqos_test_store_in_forked_child(
            UnsafeMutableRawPointer(word).assumingMemoryBound(to: UInt64.self), before &+ 1_000_000)
        #expect(inChild == 0)
        #expect(unsafe word.pointee.load(ordering: .relaxed) < before &+ 1_000_000)
        for name in try SensorFile.names(in: "/proc/self/fd") {
            var target = [CChar](repeating: 0, count: 256)
            let count = unsafe readlink("/proc/self/fd/\(name)", &target, 255)
            let link = String(decoding: target.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard link.hasPrefix("/memfd:\(DiagnosticsLayout.name)") else { continue }
            let descriptor = unsafe open("/proc/self/fd/\(name)", O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            #expect(unsafe pwrite(descriptor, "x", 1, 4000) < 0 && errno == EPERM)
            #expect(ftruncate(descriptor, 0) < 0 && errno == EPERM)
        }
    }

    @Test("a process that is gone, hidden or of another kind gives a reason and a remedy")
    func problems() throws {
        func problem(_ files: [String: String]) throws -> DiagnosticsReader.Problem? {
            let tree = try MadeTree(files)
            do throws(DiagnosticsReader.Problem) {
                _ = try DiagnosticsReader(process: "7", id: 7, root: tree.root)
                return nil
            } catch {
                return error
            }
        }
        #expect(try problem([:]) == .noProcess(7))
        #expect(try problem(["/proc/7/fd/0": ""]) == .nothing(7))
        #expect("\(DiagnosticsReader.Problem.otherUser(7))".contains("run as that user or as root"))
        #expect("\(DiagnosticsReader.Problem.protected(7))".contains("not dumpable"))
        #expect("\(DiagnosticsReader.Problem.ofParent(7, parent: 6))".contains("process 6"))
    }

    @Test("the threads of a process in a container are known by the ids that they have in it")
    func container() throws {
        let fields = Array(repeating: "0", count: 20).joined(separator: " ")
        let tree = try MadeTree([
            "/proc/7/status": "Pid:\t7\nNSpid:\t7\t1\n",
            "/proc/7/task/70/stat": "70 (qos-ut-0) S \(fields)\n", "/proc/7/task/70/status": "NSpid:\t70\t5\n",
            "/proc/7/task/70/schedstat": "20 30 1\n",
            "/proc/8/status": "Pid:\t8\nNSpid:\t8\n",
            "/proc/8/task/80/stat": "80 (qos-ut-0) S \(fields)\n", "/proc/8/task/80/schedstat": "20 30 1\n",
        ])
        let (contained, plain) = (ThreadUsage.all(of: "7", root: tree.root), ThreadUsage.all(of: "8", root: tree.root))
        #expect(Array(contained.keys) == [5] && contained[5]?.id == 70 && contained[5]?.ran == 20)
        #expect(Array(plain.keys) == [80] && plain[80]?.id == 80)
    }

    @Test("memory goes before a file of a like name, and what is no file is not read")
    func order() throws {
        let tree = try MadeTree(["/proc/7/status": "Pid:\t7\n"])
        let made = try MadeMapping()
        let folder = tree.root.appending("/proc/7/fd")
        try #require(unsafe mkdir(folder, 0o700) == 0)
        // Its process is this one, not 7: the reason tells which of the two was read last.
        try #require(unsafe symlink(made.path, "\(folder)/3") == 0)
        try #require(unsafe mkfifo("\(folder)/memfd:qos-diagnostics", 0o600) == 0)
        try #require(unsafe symlink("memfd:qos-diagnostics", "\(folder)/5") == 0)
        #expect(throws: DiagnosticsReader.Problem.ofParent(7, parent: UInt64(getpid()))) {
            try DiagnosticsReader(process: "7", id: 7, root: tree.root)
        }
        #expect(throws: DiagnosticsReader.Problem.noMapping("\(folder)/5")) {
            try DiagnosticsReader(file: "\(folder)/5")
        }
    }

    @Test("control characters in a label are printed as question marks")
    func controls() throws {
        let made = try MadeMapping()
        let slot = DiagnosticsSlot(number: 1, workers: [1, 1, 1, 1, 1], in: made.mapping)
        unsafe slot.classWords(rank: 0)[DiagnosticsLayout.Class.lines].pointee.store(1, ordering: .relaxed)
        let line = slot.line(rank: 0, index: 0)
        _ = line.begins(DiagnosticsLayout.Line.task)
        line.label(made.mapping.number(of: "a\nb\u{1B}[2J"))
        let picture = try made.picture()
        #expect(picture.schedulers.first?.workers.first?.label == "a?b?[2J")
        #expect(try DiagnosticsReader(file: made.path).picture(withEvents: false).events.isEmpty)
        slot.leave()
    }

    @Test("the setting turns the memory off, or names a folder that nobody else may write to")
    func setting() throws {
        for setting in ["off", "0", "no", "false", "tmp"] { #expect(DiagnosticsMapping.make(setting) == nil) }
        let folder = try TemporaryFolder("qos-setting")
        #expect(unsafe chmod(folder.path, 0o777) == 0)
        #expect(DiagnosticsMapping.make(folder.path) == nil)
        #expect(DiagnosticsMapping.make(folder["none"]) == nil)
    }

    /// Another file system than a tmpfs would be filled to its end, and one without a limit is never full.
    private static var hasLimitedTmpfs: Bool {
        var system = statvfs()
        guard unsafe statvfs("/dev/shm", &system) == 0, system.f_blocks > 0 else { return false }
        return (try? SensorFile.read("/proc/self/mounts").contains(" /dev/shm tmpfs ")) == true
    }

    @Test(
        "a file system that has no room for the file gives an error, and keeps nothing",
        .enabled(if: hasLimitedTmpfs))
    func full() throws {
        var system = statvfs()
        let own = "/dev/shm/qos-full-\(getpid())"
        try #require(unsafe statvfs("/dev/shm", &system) == 0)
        try #require(unsafe mkdir(own, 0o700) == 0)
        defer { _ = unsafe rmdir(own) }
        var memory: UnsafeMutableRawPointer?
        let size = (Int(system.f_blocks) + 1) * Int(system.f_frsize)
        let made = unsafe cqos_make_shown_file(own, DiagnosticsLayout.filePrefix, size, &memory)
        #expect(made == -ENOSPC)
        #expect(try SensorFile.names(in: own).isEmpty)
    }

    @Test("the file of a living process with the same id is neither moved nor written to")
    func sameID() throws {
        let folder = try TemporaryFolder("qos-same")
        #expect(unsafe chmod(folder.path, 0o700) == 0)
        let name = "qos-diagnostics-\(getpid())"
        let descriptor = unsafe open(folder[name], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        defer { close(descriptor) }
        #expect(DiagnosticsMapping.make(folder.path) == nil)
        #expect(try SensorFile.names(in: folder.path) == [name] && folder.read(name).isEmpty)
    }
}

/// Whether the writer shall end.
private final class Flag: Sendable {
    let isUp = Atomic<Bool>(false)
}
