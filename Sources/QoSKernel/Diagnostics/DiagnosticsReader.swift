internal import Glibc
package import QoSCore

/// Reads what a process shows of its schedulers (``DiagnosticsLayout``): a running one, one that hangs or is stopped, and
/// the file that a killed one has left.
///
/// It copies bytes by pread(2), so no change of the file can end the reader, and the process does not notice. A picture
/// takes a system call for each used class, and two or more for each busy worker.
///
/// Any thread.
package struct DiagnosticsReader {
    /// The reasons for which there is nothing to read, each with its remedy.
    package enum Problem: Error, Sendable, Hashable {
        /// There is no such process, or it ended meanwhile.
        case noProcess(Int32)
        /// The process belongs to another user.
        case otherUser(Int32)
        /// The process has this user, but the kernel protects it.
        case protected(Int32)
        /// The process shows nothing.
        case nothing(Int32)
        /// The descriptor is that of the process's parent.
        case ofParent(Int32, parent: UInt64)
        /// The memory has another version of the layout.
        case otherVersion(UInt64)
        /// The file is none with diagnostics, or not all of it.
        case noMapping(String)
        /// The file cannot be opened.
        case unreadable(KernelError)
    }

    /// The descriptor of the memory, closed at the end.
    private final class File {
        let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }
    }

    private let file: File

    /// Opens the memory of a process.
    ///
    /// - Parameters:
    ///   - process: its name in `/proc`: its id, or `self`.
    ///   - id: the id, for messages.
    package init(process: String, id: Int32, root: FileRoot = .real) throws(Problem) {
        file = try Self.find(process, id, root)
    }

    /// Opens a file that a process shows or has left.
    package init(file path: String) throws(Problem) {
        file = try Self.open(path)
    }

    private static func find(_ process: String, _ id: Int32, _ root: FileRoot) throws(Problem) -> File {
        let folder = root.appending("/proc/\(process)/fd")
        let names: [String]
        do throws(KernelError) {
            names = try SensorFile.names(in: folder)
        } catch {
            throw problem(error, process, id, root)
        }
        var last = Problem.nothing(id)
        var (memories, files): ([String], [String]) = ([], [])
        for path in names.map({ "\(folder)/\($0)" }) {
            switch isMemory(path) {
            case true?: memories.append(path)
            case false?: files.append(path)
            case nil: break
            }
        }
        // Memory first: a program may have files open whose opening waits, as in a file system of its own.
        for path in memories + files {
            do throws(Problem) {
                let file = try open(path)
                let owner = words(of: file, at: DiagnosticsLayout.Header.process, 1).first ?? 0
                guard ids(process, root).contains(owner) else { throw .ofParent(id, parent: owner) }
                return file
            } catch {
                last = error
            }
        }
        throw last
    }

    private static func problem(_ error: KernelError, _ process: String, _ id: Int32, _ root: FileRoot) -> Problem {
        guard error.code == EACCES || error.code == EPERM else { return .noProcess(id) }
        let user = (try? SensorFile.read(root.appending("/proc/\(process)/status")))
            .flatMap { ThreadUsage.numbers("Uid:", in: $0).first }
        return user == UInt64(geteuid()) ? .protected(id) : .otherUser(id)
    }

    /// The ids of a process in all namespaces: the process has noted its id in its own one.
    private static func ids(_ process: String, _ root: FileRoot) -> [UInt64] {
        let status = (try? SensorFile.read(root.appending("/proc/\(process)/status"))) ?? ""
        return ThreadUsage.numbers("NSpid:", in: status) + ThreadUsage.numbers("Pid:", in: status)
    }

    /// Whether a descriptor has the name of the memory, else of a file with it; `nil` for any other one. The name proves
    /// nothing: the process may have any file open.
    private static func isMemory(_ path: String) -> Bool? {
        var target = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &target, target.count)
        guard count > 0 else { return nil }
        let name = String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The slash is missing in a made tree.
        if ["/memfd:", "memfd:"].contains(where: { name.hasPrefix($0 + DiagnosticsLayout.name) }) { return true }
        return name.split(separator: "/").last?.hasPrefix(DiagnosticsLayout.filePrefix) ?? false ? false : nil
    }

    private static func open(_ path: String) throws(Problem) -> File {
        // A pipe in the place of the file must not block.
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .unreadable(KernelError(.readFile, code: errno, subject: path)) }
        let file = File(descriptor)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .noMapping(path)
        }
        let mark = words(of: file, at: DiagnosticsLayout.Header.mark, 1).first ?? 0
        guard mark << 8 == DiagnosticsLayout.mark << 8 else { throw .noMapping(path) }
        guard mark == DiagnosticsLayout.mark else { throw .otherVersion(mark >> 56) }
        return file
    }

    private static func words(of file: File, at word: Int, _ count: Int) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: count)
        let bytes = unsafe pread(file.descriptor, &words, count * 8, off_t(word * 8))
        // What is missing in a file that was cut short stays zero.
        if bytes < count * 8 { for index in max(0, bytes) / 8..<count { words[index] = 0 } }
        return words
    }

    /// Copies the counts of the process: its timers, and the numbers of the limits that its schedulers have reached. One
    /// system call.
    package func counts() -> (timers: [EnergySnapshot.Timers], limits: [Int]) {
        let header = Self.words(of: file, at: 0, DiagnosticsPicture.headerWords)
        return (DiagnosticsPicture.timers(header), DiagnosticsPicture.limits(header))
    }

    /// Whether a process is there that keeps the file (flock(2)). Of memory without a file it is not known.
    package var isHeld: Bool {
        guard flock(file.descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        _ = flock(file.descriptor, LOCK_UN)
        return false
    }

    /// Copies what the process shows at this moment.
    ///
    /// - Parameter withEvents: whether to copy the rings and the activities, too: up to 4 MiB.
    package func picture(withEvents: Bool = true) -> DiagnosticsPicture {
        DiagnosticsPicture(withEvents: withEvents) { Self.words(of: file, at: $0, $1) }
    }
}

extension DiagnosticsReader.Problem: CustomStringConvertible {
    /// The problem and its remedy.
    package var description: String {
        switch self {
        case .noProcess(let id):
            "there is no process \(id), or it ended meanwhile: look for it with 'pgrep' or 'ps'; of a killed process, name "
                + "the file; where /proc hides the processes of others (hidepid), run as root"
        case .otherUser(let id):
            "process \(id) belongs to another user: run as that user or as root"
        case .protected(let id):
            "the kernel protects process \(id) from its own user: it is not dumpable (a program with set-user-id or file "
                + "capabilities, or prctl PR_SET_DUMPABLE), or has more rights than you: run as root"
        case .nothing(let id):
            "process \(id) shows no diagnostics: it has made no scheduler of swift-qos, was started with "
                + "QOS_DIAGNOSTICS=off, may not make shared memory, or has closed descriptors that it did not open"
        case .ofParent(let id, let parent):
            "process \(id) is a fork of process \(parent) and shows no diagnostics of its own: name its parent"
        case .otherVersion(let version):
            "the diagnostics have version \(version) of their layout, and this program reads version "
                + "\(DiagnosticsLayout.version): use the qosctl of the program's swift-qos"
        case .noMapping(let path):
            "\(path) has no diagnostics of swift-qos: name a file qos-diagnostics-PID"
        case .unreadable(let error):
            "\(error)"
        }
    }
}

/// The schedulers of a process as it shows them, at one moment. Times are monotonic nanoseconds of its machine.
package struct DiagnosticsPicture: Sendable, Hashable, Encodable {
    /// A worker, and what it runs.
    package struct Worker: Sendable, Hashable, Encodable {
        package var qosClass: QoSClass
        package var index: Int
        /// The kernel's id of its thread; 0 without a thread.
        package var thread: Int32
        package var jobsEnded: UInt64
        package var isRunning: Bool
        /// Whether the process changed the line during each of several looks: then nothing is known of the job but this.
        package var isChanging = false
        /// The identity of the running job.
        package var work: String?
        /// A task, calls of an actor, an item of a work queue.
        package var kind: String?
        /// The label of `QoS.withLabel`, of the work queue, or the name of the task.
        package var label: String?
        /// The time at which the scheduler's loop first saw the worker in this job. The job began earlier, but after the
        /// loop's look before.
        package var seenAt: UInt64?
        package var promotedTo: QoSClass?
        package var promotionReason: String?
        /// The work of the promoting thread, or its id.
        package var promotedBy: String?
        /// Set if the thread waits in the kernel with its job unfinished: `declared` by the job, or `detected`.
        package var blocked: String?
        package var nodesStolen: UInt64
        package var timesParked: UInt64

        /// The name of the thread.
        package var name: String { "qos-\(qosClass.abbreviation)-\(index)" }
    }

    /// A class of a scheduler.
    package struct Class: Sendable, Hashable, Encodable {
        package var qosClass: QoSClass
        package var width: UInt64
        package var widthLimit: UInt64?
        package var workers: Int
        package var running: Int
        package var blocked: Int
        /// As the loop saw it at its latest look.
        package var queued: UInt64
        package var oldestSince: UInt64?
        package var longestWaitNanoseconds: UInt64
        package var jobsEnded: UInt64
        package var movedIn: UInt64
        package var raisedByEffects: UInt64
        package var raisedByFence: UInt64
        package var raisedForLock: UInt64
        package var stalls: UInt64
        package var standIns: UInt64
    }

    package struct Scheduler: Sendable, Hashable, Encodable {
        package var number: Int
        package var isOpen: Bool
        package var began: UInt64
        package var ended: UInt64?
        package var processors: UInt64
        package var lookedAt: UInt64
        package var loopThread: Int32
        /// From the highest class to the lowest.
        package var classes: [Class]
        package var workers: [Worker]
    }

    /// A rare event.
    package struct Event: Sendable, Hashable, Encodable {
        package var time: UInt64
        package var kind: String
        package var work: String
        package var from: QoSClass?
        package var to: QoSClass?
        package var text: String
        /// The activity of a message or a breadcrumb; `nil` without one.
        package var activity: UInt64?
    }

    package var process: UInt64
    package var started: UInt64
    package var madeAt: UInt64
    /// To be added to a time for nanoseconds since 1970.
    package var wallOffset: Int64
    package var limits: [Int]
    package var timers: [EnergySnapshot.Timers]
    package var stringsLost: UInt64
    package var ringsLost: UInt64
    package var schedulers: [Scheduler]
    /// In the order of their times.
    package var events: [Event]
    /// In the order of their beginning.
    package var activities: [ShownActivity]
    /// The number of activities that found no place.
    package var activitiesLost: UInt64

    /// The latest time that the process has noted: of a dead one, about its end.
    package var latest: UInt64 {
        max(
            schedulers.map { max($0.lookedAt, $0.ended ?? 0) }.max() ?? 0, events.last?.time ?? 0,
            activities.last?.begin ?? 0, madeAt)
    }

    /// Reads a picture.
    ///
    /// - Parameters:
    ///   - withEvents: whether to read the rings and the activities.
    ///   - read: returns a number of words from an index on; zeros for those that are not there. It is called again for
    ///     words that may have changed meanwhile.
    package init(withEvents: Bool = true, _ read: (_ word: Int, _ count: Int) -> [UInt64]) {
        typealias Header = DiagnosticsLayout.Header
        let header = read(0, Self.headerWords)
        (process, started, madeAt) = (header[Header.process], header[Header.started], header[Header.madeAt])
        wallOffset = Int64(bitPattern: header[Header.wallOffset])
        (timers, limits) = (Self.timers(header), Self.limits(header))
        (stringsLost, ringsLost) = (header[Header.stringsLost], header[Header.ringsLost])
        let texts = Texts(count: header[Header.strings], read)
        let words = DiagnosticsLayout.slotWords
        let slots = read(DiagnosticsLayout.slots, DiagnosticsLayout.slotCount * words)
        schedulers = (1..<DiagnosticsLayout.slotCount).compactMap { number in
            Self.scheduler(number, Array(slots[number * words..<(number + 1) * words]), texts, read)
        }
        // Before the events, so that the picture has what they have noted.
        activities = withEvents ? ShownActivity.all(read) : []
        activitiesLost = header[Header.activitiesLost]
        events = withEvents ? Self.events(texts, read) : []
    }

    /// The number of words of the header that are in use.
    static let headerWords = 64

    static func timers(_ header: [UInt64]) -> [EnergySnapshot.Timers] {
        let first = DiagnosticsLayout.Header.timers
        return TimerCounts.timers(Array(header[first..<first + 2 * TimerCounts.owners]))
    }

    static func limits(_ header: [UInt64]) -> [Int] {
        (0..<64).filter { header[DiagnosticsLayout.Header.limits] >> UInt64($0) & 1 != 0 }
    }

    /// The texts of the table.
    private struct Texts {
        private let words: [UInt64]

        init(count: UInt64, _ read: (Int, Int) -> [UInt64]) {
            let count = Int(min(count, UInt64(DiagnosticsLayout.mostStrings - 1))) + 1
            words = read(DiagnosticsLayout.strings, count * DiagnosticsLayout.stringWords)
        }

        /// - Returns: `nil` for 0, and for a number beyond the table.
        subscript(number: UInt64) -> String? {
            guard number > 0, number < UInt64(words.count / DiagnosticsLayout.stringWords) else { return nil }
            let first = Int(number) * DiagnosticsLayout.stringWords
            return DiagnosticsPicture.text(words[first..<first + DiagnosticsLayout.stringWords])
        }
    }

    /// The text in some words, up to its zero. Control characters, as line feeds, are question marks: no name makes a line
    /// of its own where it is printed.
    static func text(_ words: ArraySlice<UInt64>) -> String {
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word.littleEndian >> UInt64(8 * $0)) }
        }
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }

    private static func scheduler(
        _ number: Int, _ slot: [UInt64], _ texts: Texts, _ read: (Int, Int) -> [UInt64]
    ) -> Scheduler? {
        typealias Slot = DiagnosticsLayout.Slot
        typealias Class = DiagnosticsLayout.Class
        guard slot[Slot.state] == Slot.open || slot[Slot.state] == Slot.closed else { return nil }
        var (classes, workers): ([DiagnosticsPicture.Class], [Worker]) = ([], [])
        for qosClass in QoSClass.descending {
            let first = Slot.classes + qosClass.rank * Slot.classWords
            let words = Array(slot[first..<first + Slot.classWords])
            let count = Int(min(words[Class.lines], UInt64(DiagnosticsLayout.linesOfClass)))
            let place = DiagnosticsLayout.line(slot: number, rank: qosClass.rank, index: 0)
            let lines = count == 0 ? [] : read(place, count * DiagnosticsLayout.lineWords)
            let own = (0..<count).map { index in
                let first = index * DiagnosticsLayout.lineWords
                return worker(
                    qosClass, index, slot: number, Array(lines[first..<first + DiagnosticsLayout.lineWords]), texts
                ) { read(place + first, DiagnosticsLayout.lineWords) }
            }
            workers += own
            classes.append(
                DiagnosticsPicture.Class(
                    qosClass: qosClass, width: words[Class.width],
                    widthLimit: words[Class.widthLimit] == 0 ? nil : words[Class.widthLimit] - 1,
                    workers: own.count { $0.thread != 0 }, running: own.count { $0.isRunning && $0.blocked == nil },
                    blocked: own.count { $0.blocked != nil }, queued: words[Class.queued],
                    oldestSince: words[Class.oldestSince] == 0 ? nil : words[Class.oldestSince],
                    longestWaitNanoseconds: words[Class.longestWait],
                    jobsEnded: own.reduce(0) { $0 &+ $1.jobsEnded }, movedIn: words[Class.movedIn],
                    raisedByEffects: words[Class.raisedByEffects], raisedByFence: words[Class.raisedByFence],
                    raisedForLock: words[Class.raisedForLock], stalls: words[Class.stalls],
                    standIns: words[Class.standIns]))
        }
        return Scheduler(
            number: number, isOpen: slot[Slot.state] == Slot.open, began: slot[Slot.began],
            ended: slot[Slot.ended] == 0 ? nil : slot[Slot.ended], processors: slot[Slot.processors],
            lookedAt: slot[Slot.lookedAt], loopThread: Int32(truncatingIfNeeded: slot[Slot.loopThread]),
            classes: classes, workers: workers)
    }

    /// The number of copies of a busy worker's line before the reader gives up.
    private static let attempts = 8

    /// - Parameter again: copies the line once more.
    private static func worker(
        _ qosClass: QoSClass, _ index: Int, slot: Int, _ line: [UInt64], _ texts: Texts, again: () -> [UInt64]
    ) -> Worker {
        typealias Line = DiagnosticsLayout.Line
        var line = line
        func made() -> Worker {
            Worker(
                qosClass: qosClass, index: index, thread: Int32(truncatingIfNeeded: line[Line.thread]),
                jobsEnded: (line[Line.steps] & Line.count) / 2, isRunning: line[Line.steps] & 1 == 1,
                nodesStolen: line[Line.stolen], timesParked: line[Line.parked])
        }
        guard line[Line.steps] & 1 == 1 else { return made() }
        var before = line
        line = again()
        for _ in 0..<attempts {
            // The copy between two that agree with it: the order in which the kernel copies words does not matter.
            let after = again()
            guard [before, after].allSatisfy({ isOfSameJob($0, line) }) else {
                (before, line) = (line, after)
                if line[Line.steps] & 1 == 0 { return made() }
                continue
            }
            var worker = made()
            tell(line, of: &worker, slot: slot, texts)
            return worker
        }
        var worker = made()
        worker.isChanging = true
        return worker
    }

    /// Whether two copies have the same words by which the others are known to belong together.
    private static func isOfSameJob(_ one: [UInt64], _ other: [UInt64]) -> Bool {
        typealias Line = DiagnosticsLayout.Line
        return [Line.steps, Line.promotion, Line.seenStep, Line.nameStep].allSatisfy { one[$0] == other[$0] }
    }

    private static func tell(_ line: [UInt64], of worker: inout Worker, slot: Int, _ texts: Texts) {
        typealias Line = DiagnosticsLayout.Line
        let steps = line[Line.steps] & Line.count
        let step = steps & 0xFFFF_FFFF
        let labels = line[Line.labels] >> 32 == step ? line[Line.labels] : 0
        worker.work = "\(WorkID(slot: slot, rank: worker.qosClass.rank, worker: worker.index, steps: steps))"
        switch line[Line.steps] & ~Line.count {
        case Line.task: worker.kind = "task"
        case Line.actor: worker.kind = "actor"
        case Line.item: worker.kind = "item"
        default: break
        }
        worker.label = texts[labels & 0xFFFF] ?? texts[labels >> 16 & 0xFFFF]
        if worker.label == nil, line[Line.nameStep] == steps {
            worker.label = text(line[Line.name..<Line.name + Line.nameBytes / 8])
        }
        if line[Line.seenStep] == steps { worker.seenAt = line[Line.seenAt] }
        let promotion = line[Line.promotion]
        if promotion & 0xFFFF_FFFF == step, let to = QoSClass(rank: Int(promotion >> 32 & 0xF) - 1) {
            worker.promotedTo = to
            worker.promotionReason = reason(UInt16(promotion >> 40 & 0xFF))
            worker.promotedBy =
                line[Line.promotedBy] == 0 ? nil : "\(WorkID(rawValue: line[Line.promotedBy]))"
        }
        let blocked = line[Line.blocked]
        if blocked & 0xFFFF_FFFF == step, blocked >> 32 != 0 {
            worker.blocked = blocked >> 32 == 1 ? "declared" : "detected"
        }
    }

    private static func reason(_ number: UInt16) -> String {
        "\(DiagnosticsRecord.Reason(rawValue: number) ?? .unknown)"
    }

    // MARK: Events

    private static func events(_ texts: Texts, _ read: (Int, Int) -> [UInt64]) -> [Event] {
        typealias Ring = DiagnosticsLayout.Ring
        let directory = read(
            DiagnosticsLayout.directory, DiagnosticsLayout.ringCount * DiagnosticsLayout.directoryWords)
        var records: [DiagnosticsRecord] = []
        for ring in 0..<DiagnosticsLayout.ringCount {
            let head = directory[ring * DiagnosticsLayout.directoryWords + Ring.head]
            guard head > 0 else { continue }
            let count = Int(min(head, UInt64(DiagnosticsLayout.recordsOfRing)))
            let words = read(
                DiagnosticsLayout.rings + ring * DiagnosticsLayout.recordsOfRing * DiagnosticsLayout.recordWords,
                DiagnosticsLayout.recordsOfRing * DiagnosticsLayout.recordWords)
            for back in 0..<count {
                let sequence = head &- UInt64(back)
                let place =
                    Int((sequence &- 1) % UInt64(DiagnosticsLayout.recordsOfRing)) * DiagnosticsLayout.recordWords
                let found = DiagnosticsRecord(
                    words[place..<place + DiagnosticsLayout.recordWords], sequence: sequence)
                if let found { records.append(found) }
            }
        }
        return records.sorted { $0.time < $1.time }.map { event($0, texts) }
    }

    private static func event(_ record: DiagnosticsRecord, _ texts: Texts) -> Event {
        let text: String
        switch record.kind {
        case .promotedWaiting, .promotedRunning:
            let by = record.payload == 0 ? "" : " by \(WorkID(rawValue: record.payload))"
            text = reason(record.detail) + by
        case .stalledComputing, .stalledBlocked:
            let label = texts[UInt64(record.detail)].map { " '\($0)'" } ?? ""
            text = "for \(record.payload / 1_000_000) ms" + label
        case .inversion:
            text = "a wait for \(texts[record.payload & 0xFFFF] ?? "something")"
        case .message, .breadcrumb:
            text = texts[UInt64(record.detail)] ?? "a text that found no room"
        }
        let isNote = record.kind == .message || record.kind == .breadcrumb
        return Event(
            time: record.time, kind: "\(record.kind)", work: "\(record.work)", from: record.from, to: record.to,
            text: text, activity: isNote && record.payload != 0 ? record.payload : nil)
    }
}

/// The layout of the counts of timers in memory: the firings by owner, then the wake-ups by owner.
package enum TimerCounts {
    /// The number of the owners: the classes by rank, then the runtime itself.
    package static let owners = QoSClass.allCases.count + 1

    /// Returns the counts, from the highest class to the lowest, and the runtime's own last.
    static func timers(_ words: [UInt64]) -> [EnergySnapshot.Timers] {
        (QoSClass.descending.map { Optional($0) } + [nil]).map { qosClass in
            let owner = qosClass?.rank ?? owners - 1
            return .init(qosClass: qosClass, fired: words[owner], wakeUps: words[owners + owner])
        }
    }
}
