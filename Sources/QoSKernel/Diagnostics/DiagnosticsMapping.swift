internal import CQoSShims
internal import Glibc
package import QoSCore
public import Synchronization

/// The writer's side of the memory in which this process shows its schedulers (``DiagnosticsLayout``).
///
/// The first scheduler makes the mapping, or the first activity or count of a timer. It lasts as long as the process. The environment
/// variable `QOS_DIAGNOSTICS` decides where it is:
///
/// | value | meaning |
/// |---|---|
/// | none, `on` | in memory (`memfd_create`), read through `/proc/PID/fd`; it ends with the process |
/// | `off`, `0` | nowhere; each scheduler counts in memory of its own |
/// | the absolute path of a folder | in the file `qos-diagnostics-PID` there, which stays if the process is killed |
///
/// The folder must belong to the process's user, and to nobody else (mode 0700): who may write to the file can cut it
/// short, and that ends the process. A program with more rights than its user ignores the variable.
///
/// A forked child has a private copy at the same address (`CQoSMapping.c`). Its parent's mapping never sees its counts.
///
/// Threading: any thread.
// SAFETY: the memory is never freed, and its words are atomic. The text of a string is written under `interned`'s lock,
// before its number is known to anybody.
@safe
package final class DiagnosticsMapping: @unchecked Sendable {
    /// The mapping of the process; `nil` if it is off, or if the system gives no such memory.
    package static let process: DiagnosticsMapping? = make(
        unsafe cqos_setting("QOS_DIAGNOSTICS").map { unsafe String(cString: $0) })

    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// The numbers of the texts that are in the table, and how many of them are no literals.
    private let interned = Lock<(numbers: [String: UInt16], dynamic: Int)>(([:], 0))

    /// The numbers of literals by their addresses: the address (48 bits) and the number. Each has two places. If others
    /// have both, it costs a look into ``interned``.
    private let literals: UnsafeMutablePointer<Atomic<UInt64>>
    private static let literalBits = 10

    private let ringChoice = Lock(())

    /// - Parameter setting: the value of the environment variable.
    static func make(_ setting: String?) -> DiagnosticsMapping? {
        var memory: UnsafeMutableRawPointer?
        switch setting {
        case "off", "0", "no", "false": return nil
        case nil, "", "on", "1", "yes", "true":
            let made = unsafe cqos_make_shown_memory(DiagnosticsLayout.name, DiagnosticsLayout.size, &memory)
            guard made >= 0 else { return nil }
        case let folder?:
            let problem = unsafe makeFile(in: folder, &memory)
            if let problem {
                StandardError.write("warning: QoSRuntime shows no diagnostics in \(folder): \(problem)")
                return nil
            }
        }
        return unsafe memory.map { unsafe DiagnosticsMapping($0) }
    }

    /// - Returns: the reason for which there is no file.
    private static func makeFile(in folder: String, _ memory: inout UnsafeMutableRawPointer?) -> String? {
        guard folder.hasPrefix("/") else {
            return "set QOS_DIAGNOSTICS to on, to off, or to the absolute path of a folder"
        }
        let made = unsafe cqos_make_shown_file(
            folder, DiagnosticsLayout.filePrefix, DiagnosticsLayout.size, &memory)
        switch made {
        case 0...: return nil
        case -EPERM: return "use a folder of this user to which nobody else may write (mode 0700)"
        case -EBUSY:
            return "another process with the same id, as in another container, has its file there: use two folders"
        default: return unsafe String(cString: strerror(-made))
        }
    }

    /// - Parameter memory: zeroed memory of ``DiagnosticsLayout/size`` bytes, which is never freed.
    init(_ memory: UnsafeMutableRawPointer) {
        // Zero is a value of each word, so nothing is stored before it is used.
        unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: DiagnosticsLayout.words)
        unsafe literals = .allocate(capacity: 1 << Self.literalBits)
        for index in 0..<1 << Self.literalBits { unsafe (literals + index).initialize(to: Atomic(0)) }
        header(DiagnosticsLayout.Header.size, UInt64(DiagnosticsLayout.size))
        header(DiagnosticsLayout.Header.process, UInt64(getpid()))
        header(DiagnosticsLayout.Header.started, ThreadUsage.startOfProcess("self") ?? 0)
        header(DiagnosticsLayout.Header.madeAt, MonotonicClock.nanoseconds())
        refreshClocks(at: MonotonicClock.nanoseconds())
        populate(DiagnosticsLayout.directory, DiagnosticsLayout.ringCount * DiagnosticsLayout.directoryWords)
        for ring in 0..<Self.populatedRings {
            let words = DiagnosticsLayout.recordsOfRing * DiagnosticsLayout.recordWords
            populate(DiagnosticsLayout.rings + ring * words, 1)
        }
        unsafe words[DiagnosticsLayout.Header.mark].store(DiagnosticsLayout.mark, ordering: .releasing)
    }

    /// The rings whose first page is there from the start. A fault takes some 5 to 10 µs, and a thread that records a
    /// promotion is in a hurry.
    private static let populatedRings = 16

    private func populate(_ first: Int, _ count: Int) { unsafe cqos_populate(words + first, count * 8) }

    private func header(_ word: Int, _ value: UInt64) { unsafe words[word].store(value, ordering: .relaxed) }

    /// The first of the counts of timers in the header, for the tally of the process.
    var timers: UnsafeMutablePointer<Atomic<UInt64>> { unsafe words + DiagnosticsLayout.Header.timers }

    /// The words from one on, for the table of activities.
    func region(from word: Int) -> DiagnosticsWords { unsafe DiagnosticsWords(words + word) }

    /// Notes that a limit was reached in the process.
    ///
    /// - Parameter limit: its number, 0…63.
    package func reached(limit: Int) {
        unsafe words[DiagnosticsLayout.Header.limits].bitwiseOr(1 << UInt64(limit & 63), ordering: .relaxed)
    }

    /// Reads the clocks again if the last time is a second ago. The loops call it.
    package func refreshClocks(at now: UInt64) {
        let last = unsafe words[DiagnosticsLayout.Header.clocksAt].load(ordering: .relaxed)
        guard last == 0 || now > last &+ 1_000_000_000 else { return }
        let clocks = ClockReading.current
        let monotonic = Int64(clamping: MonotonicClock.nanoseconds())
        header(DiagnosticsLayout.Header.wallOffset, UInt64(bitPattern: clocks.wall &- monotonic))
        header(DiagnosticsLayout.Header.bootOffset, UInt64(bitPattern: clocks.continuous &- monotonic))
        header(DiagnosticsLayout.Header.clocksAt, now)
    }

    // MARK: Texts

    /// Returns the number of a text, which is added to the table at its first use; 0 for an empty one, and for one that
    /// finds no room. Some 50 ns, behind a lock. Any thread.
    ///
    /// Texts that a program makes have half of the table. However many it makes, there is room for its literals.
    package static func number(of text: String) -> UInt16 {
        text.isEmpty ? 0 : process?.number(of: text) ?? 0
    }

    func number(of text: String, isLiteral: Bool = false) -> UInt16 {
        interned.withLock { texts in
            if let known = texts.numbers[text] { return known }
            let number = texts.numbers.count + 1
            guard number < DiagnosticsLayout.mostStrings,
                isLiteral || texts.dynamic < DiagnosticsLayout.mostStrings / 2
            else {
                unsafe words[DiagnosticsLayout.Header.stringsLost].wrappingAdd(1, ordering: .relaxed)
                return 0
            }
            let bytes = DiagnosticsLayout.stringWords * 8
            let place = unsafe UnsafeMutableRawPointer(
                words + DiagnosticsLayout.strings + number * DiagnosticsLayout.stringWords)
            // SAFETY: nobody reads the text before its number is known; other processes copy bytes.
            unsafe text.withCString { unsafe cqos_copy_text(place.assumingMemoryBound(to: CChar.self), $0, bytes) }
            unsafe words[DiagnosticsLayout.Header.strings].store(UInt64(number), ordering: .releasing)
            texts.numbers[text] = UInt16(number)
            if !isLiteral { texts.dynamic += 1 }
            return UInt16(number)
        }
    }

    /// Returns the number of a literal. A few nanoseconds from the second time on.
    ///
    /// - Parameter literal: of a text that lives forever and ends with a zero.
    package static func number(ofLiteral literal: UnsafePointer<UInt8>) -> UInt16 {
        guard let process else { return 0 }
        return unsafe process.number(ofLiteral: literal)
    }

    private func number(ofLiteral literal: UnsafePointer<UInt8>) -> UInt16 {
        let address = UInt64(UInt(bitPattern: literal)) & (1 << 48 - 1)
        let place = Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.literalBits))
        let known = unsafe literals[place].load(ordering: .relaxed)
        if known >> 16 == address { return UInt16(truncatingIfNeeded: known) }
        let other = unsafe literals[place ^ 1].load(ordering: .relaxed)
        if other >> 16 == address { return UInt16(truncatingIfNeeded: other) }
        let number = unsafe number(of: String(cString: literal), isLiteral: true)
        unsafe literals[known == 0 ? place : place ^ 1].store(address << 16 | UInt64(number), ordering: .relaxed)
        return number
    }

    // MARK: Rings

    /// Writes a record into the ring that all threads without one of their own share.
    ///
    /// Two writers never have the same place, unless one of them sleeps within the call for a whole turn of the ring. Then
    /// a record may be mixed of both.
    package func write(_ record: DiagnosticsRecord) {
        let ring = DiagnosticsLayout.Ring.shared
        let (before, _) = unsafe head(of: ring).pointee.wrappingAdd(1, ordering: .relaxed)
        write(record, into: ring, sequence: before &+ 1)
    }

    /// Writes a record into the ring of the calling thread. A thread whose owner has no ring yet takes one.
    ///
    /// - Parameters:
    ///   - place: the ring of the thread, as it was left by the last call; 0 at first.
    ///   - owner: the thread's work number 0.
    package func write(_ record: DiagnosticsRecord, place: borrowing Atomic<Int>, owner: WorkID) {
        var ring = place.load(ordering: .relaxed)
        if ring == 0 {
            guard let taken = takeRing(for: owner) else { return write(record) }
            ring = taken
            place.store(ring, ordering: .relaxed)
        }
        let written = unsafe head(of: ring).pointee.load(ordering: .relaxed)
        write(record, into: ring, sequence: written &+ 1)
        unsafe head(of: ring).pointee.store(written &+ 1, ordering: .releasing)
    }

    private func head(of ring: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe directory(ring) + DiagnosticsLayout.Ring.head
    }

    private func directory(_ ring: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe words + DiagnosticsLayout.directory + ring * DiagnosticsLayout.directoryWords
    }

    private func write(_ record: DiagnosticsRecord, into ring: Int, sequence: UInt64) {
        let index = Int((sequence &- 1) % UInt64(DiagnosticsLayout.recordsOfRing))
        let place =
            unsafe words + DiagnosticsLayout.rings
            + (ring * DiagnosticsLayout.recordsOfRing + index) * DiagnosticsLayout.recordWords
        unsafe place[0].store(0, ordering: .relaxed)
        unsafe place[1].store(record.time, ordering: .releasing)
        unsafe place[2].store(record.work.rawValue, ordering: .releasing)
        unsafe place[3].store(record.payload, ordering: .releasing)
        unsafe place[0].store(record.head(sequence: sequence), ordering: .releasing)
    }

    /// When the owner of a ring has left it.
    private func timeLeft(_ ring: Int) -> UInt64 {
        unsafe directory(ring)[DiagnosticsLayout.Ring.leftAt].load(ordering: .relaxed)
    }

    /// Takes a free ring, else the one that its owner has left the longest time ago.
    private func takeRing(for owner: WorkID) -> Int? {
        ringChoice.withLock { _ in
            let rings = 1..<DiagnosticsLayout.ringCount
            let state = DiagnosticsLayout.Ring.state
            let found =
                rings.first { unsafe directory($0)[state].load(ordering: .relaxed) == DiagnosticsLayout.Ring.free }
                ?? rings.filter {
                    unsafe directory($0)[state].load(ordering: .relaxed) == DiagnosticsLayout.Ring.left
                }.min { timeLeft($0) < timeLeft($1) }
            guard let found else {
                unsafe words[DiagnosticsLayout.Header.ringsLost].wrappingAdd(1, ordering: .relaxed)
                return nil
            }
            unsafe directory(found)[DiagnosticsLayout.Ring.head].store(0, ordering: .relaxed)
            unsafe directory(found)[DiagnosticsLayout.Ring.owner].store(owner.rawValue, ordering: .relaxed)
            unsafe directory(found)[state].store(DiagnosticsLayout.Ring.taken, ordering: .releasing)
            return found
        }
    }

    fileprivate func leaveRings(ofSlot slot: Int) {
        ringChoice.withLock { _ in
            for ring in 1..<DiagnosticsLayout.ringCount {
                let owner = unsafe directory(ring)[DiagnosticsLayout.Ring.owner].load(ordering: .relaxed)
                let isTaken =
                    unsafe directory(ring)[DiagnosticsLayout.Ring.state].load(ordering: .relaxed)
                    == DiagnosticsLayout.Ring.taken
                if isTaken, WorkID(rawValue: owner).slot == slot {
                    unsafe directory(ring)[DiagnosticsLayout.Ring.leftAt]
                        .store(MonotonicClock.nanoseconds(), ordering: .relaxed)
                    unsafe directory(ring)[DiagnosticsLayout.Ring.state]
                        .store(DiagnosticsLayout.Ring.left, ordering: .releasing)
                }
            }
        }
    }

    // MARK: Slots

    fileprivate func slot(_ number: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe words + DiagnosticsLayout.slots + number * DiagnosticsLayout.slotWords
    }

    fileprivate func line(slot: Int, rank: Int, index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe words + DiagnosticsLayout.line(slot: slot, rank: rank, index: index)
    }

    /// Clears what an earlier scheduler left in the slot, and opens it.
    fileprivate func open(slot number: Int) {
        typealias Slot = DiagnosticsLayout.Slot
        let slot = unsafe self.slot(number)
        for rank in 0..<DiagnosticsLayout.classCount {
            let used = unsafe slot[Slot.classes + rank * Slot.classWords + DiagnosticsLayout.Class.lines]
                .load(ordering: .relaxed)
            for index in 0..<min(Int(used), DiagnosticsLayout.linesOfClass) {
                let line = unsafe self.line(slot: number, rank: rank, index: index)
                for word in 0..<DiagnosticsLayout.lineWords { unsafe line[word].store(0, ordering: .relaxed) }
            }
        }
        let generation = unsafe slot[Slot.generation].load(ordering: .relaxed)
        for word in 0..<DiagnosticsLayout.slotWords { unsafe slot[word].store(0, ordering: .relaxed) }
        unsafe slot[Slot.generation].store(generation &+ 1, ordering: .relaxed)
        unsafe slot[Slot.began].store(MonotonicClock.nanoseconds(), ordering: .relaxed)
        unsafe slot[Slot.state].store(Slot.open, ordering: .releasing)
    }
}

/// The place of one scheduler: its own words, those of its classes, and the lines of its workers.
///
/// Without a mapping, or without a number, all of it is in memory of its own, and nobody sees it. So the code that counts
/// is the same, and costs the same.
///
/// Threading: any thread. It outlives the threads that use its parts.
// SAFETY: the memory lasts until `deinit`, and its words are atomic.
@safe
package struct DiagnosticsSlot: ~Copyable, @unchecked Sendable {
    /// The mapping; `nil` if the scheduler is not shown.
    package let mapping: DiagnosticsMapping?

    /// 1…63; 0 if the scheduler is not shown.
    package let number: Int

    private let slot: UnsafeMutablePointer<Atomic<UInt64>>
    private let own: UnsafeMutableRawPointer

    /// The first line in ``own`` of each class.
    private let firstLines: [Int]

    /// Takes the place of a scheduler.
    ///
    /// - Parameters:
    ///   - number: the number of the scheduler in the process, which no other one has at this time; 0 for none.
    ///   - workers: the largest number of workers of each class, by rank.
    package init(number: Int, workers: [Int], in process: DiagnosticsMapping? = DiagnosticsMapping.process) {
        let mapping = number > 0 && number < DiagnosticsLayout.slotCount ? process : nil
        let shown = mapping == nil ? 0 : DiagnosticsLayout.linesOfClass
        var count = 0
        firstLines = workers.map { most in
            defer { count += max(0, most - shown) }
            return count
        }
        let words = DiagnosticsLayout.slotWords + count * DiagnosticsLayout.lineWords
        // As far apart as the lines of the mapping are.
        unsafe own = .allocate(byteCount: words * 8, alignment: DiagnosticsLayout.lineWords * 8)
        unsafe own.initializeMemory(as: UInt8.self, repeating: 0, count: words * 8)
        let ownWords = unsafe own.bindMemory(to: Atomic<UInt64>.self, capacity: words)
        self.mapping = mapping
        if let mapping {
            self.number = number
            mapping.open(slot: number)
            unsafe slot = mapping.slot(number)
        } else {
            self.number = 0
            unsafe slot = ownWords
        }
    }

    deinit {
        unsafe own.deallocate()
    }

    /// Leaves the place to another scheduler. What is there stays until one comes. Once, before the number is given back.
    package func leave() {
        guard let mapping else { return }
        unsafe slot[DiagnosticsLayout.Slot.ended].store(MonotonicClock.nanoseconds(), ordering: .relaxed)
        unsafe slot[DiagnosticsLayout.Slot.state].store(DiagnosticsLayout.Slot.closed, ordering: .releasing)
        mapping.leaveRings(ofSlot: number)
    }

    /// Sets a word of ``DiagnosticsLayout/Slot``.
    package func set(_ word: Int, _ value: UInt64) { unsafe slot[word].store(value, ordering: .relaxed) }

    /// Returns the words of a class (``DiagnosticsLayout/Class``).
    package func classWords(rank: Int) -> DiagnosticsWords {
        unsafe DiagnosticsWords(
            slot + DiagnosticsLayout.Slot.classes + rank * DiagnosticsLayout.Slot.classWords)
    }

    /// Returns the line of a worker.
    package func line(rank: Int, index: Int) -> WorkerLine {
        if let mapping, index < DiagnosticsLayout.linesOfClass {
            return unsafe WorkerLine(mapping.line(slot: number, rank: rank, index: index), isShown: true)
        }
        let line = firstLines[rank] + index - (mapping == nil ? 0 : DiagnosticsLayout.linesOfClass)
        let words = unsafe own.assumingMemoryBound(to: Atomic<UInt64>.self)
        return unsafe WorkerLine(
            words + DiagnosticsLayout.slotWords + line * DiagnosticsLayout.lineWords, isShown: false)
    }
}

/// Some words of the mapping, or of memory in its place. The owner of the memory keeps it for longer.
// SAFETY: `DiagnosticsSlot` makes it, and outlives all users; the words are atomic.
@safe
package struct DiagnosticsWords: @unchecked Sendable {
    private let first: UnsafeMutablePointer<Atomic<UInt64>>

    init(_ first: UnsafeMutablePointer<Atomic<UInt64>>) { unsafe self.first = first }

    /// The place of the word at an index of the layout.
    package subscript(index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> { unsafe first + index }
}

/// The line of a worker: what it runs.
///
/// Threading: each function names its threads.
// SAFETY: as `DiagnosticsWords`.
@safe
@usableFromInline
package struct WorkerLine: @unchecked Sendable {
    @usableFromInline package let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// Whether other processes see the line.
    package let isShown: Bool

    init(_ words: UnsafeMutablePointer<Atomic<UInt64>>, isShown: Bool) {
        unsafe self.words = words
        self.isShown = isShown
    }

    /// Notes that a job begins. The worker.
    ///
    /// - Parameter kind: ``DiagnosticsLayout/Line/task``, `actor` or `item`.
    /// - Returns: the step of the job, for ``ends(_:)``.
    @inlinable @inline(__always)
    package func begins(_ kind: UInt64) -> UInt64 {
        let before = unsafe words[DiagnosticsLayout.Line.steps].load(ordering: .relaxed)
        // Odd in a forked child, too: its copy of the word may be of any moment.
        let step = (before & DiagnosticsLayout.Line.count &+ 1) | 1
        unsafe words[DiagnosticsLayout.Line.steps].store(step | kind, ordering: .releasing)
        return step
    }

    /// Notes that the job has ended. The worker.
    ///
    /// - Parameter step: the step of the job.
    @inlinable @inline(__always)
    package func ends(_ step: UInt64) {
        unsafe words[DiagnosticsLayout.Line.steps].store(step &+ 1, ordering: .releasing)
    }

    /// The number of jobs begun plus the number of jobs ended. Any thread.
    @inlinable
    package var step: UInt64 {
        let word = unsafe words[DiagnosticsLayout.Line.steps].load(ordering: .sequentiallyConsistent)
        return word & DiagnosticsLayout.Line.count
    }

    /// The word of the labels of the running job: zero but for the step, if it has none. The worker.
    @inlinable
    package var ownLabels: UInt64 {
        let all = unsafe words[DiagnosticsLayout.Line.labels].load(ordering: .relaxed)
        let none = step << 32
        return all >> 32 == none >> 32 ? all : none
    }

    /// Sets the number of the label of the running job. The worker.
    ///
    /// - Returns: the one before.
    @inlinable @discardableResult
    package func label(_ number: UInt16) -> UInt16 {
        let all = ownLabels
        unsafe words[DiagnosticsLayout.Line.labels].store(all & ~0xFFFF | UInt64(number), ordering: .releasing)
        return UInt16(truncatingIfNeeded: all)
    }

    /// Sets the number of the label of the work queue whose item runs. The worker.
    ///
    /// - Returns: the one before.
    @inlinable @discardableResult
    package func queue(_ number: UInt16) -> UInt16 {
        let all = ownLabels
        unsafe words[DiagnosticsLayout.Line.labels]
            .store(all & ~0xFFFF_0000 | UInt64(number) << 16, ordering: .releasing)
        return UInt16(truncatingIfNeeded: all >> 16)
    }

    /// The number of the label of the running job, else of its work queue; 0 for none. Any thread.
    package var labelNumber: UInt16 {
        let all = unsafe words[DiagnosticsLayout.Line.labels].load(ordering: .relaxed)
        guard all >> 32 == step & 0xFFFF_FFFF else { return 0 }
        return UInt16(truncatingIfNeeded: all & 0xFFFF != 0 ? all : all >> 16)
    }

    /// Notes the name of the task that the running job is. The worker, in the job.
    ///
    /// - Parameter name: ends with a zero.
    package func name(_ name: UnsafePointer<CChar>) {
        unsafe words[DiagnosticsLayout.Line.nameStep].store(0, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        // SAFETY: no thread of the process reads the bytes; other processes copy them, and look at the step afterwards.
        let place = unsafe UnsafeMutableRawPointer(words + DiagnosticsLayout.Line.name)
            .assumingMemoryBound(to: CChar.self)
        unsafe cqos_copy_text(place, name, DiagnosticsLayout.Line.nameBytes)
        unsafe words[DiagnosticsLayout.Line.nameStep].store(step, ordering: .releasing)
    }

    /// Notes that the running job was promoted. With the lock of the worker's raise held.
    package func promoted(to qosClass: QoSClass, _ reason: DiagnosticsRecord.Reason, by promoter: UInt64) {
        unsafe words[DiagnosticsLayout.Line.promotedBy].store(promoter, ordering: .relaxed)
        let word = step & 0xFFFF_FFFF | UInt64(qosClass.rank + 1) << 32 | UInt64(reason.rawValue) << 40
        unsafe words[DiagnosticsLayout.Line.promotion].store(word, ordering: .releasing)
    }

    /// Notes that a raise was taken back, or a part of it. With the same lock held.
    ///
    /// - Parameter qosClass: the class to which the worker is still raised; `nil` for none.
    package func lowered(to qosClass: QoSClass?) {
        let word = unsafe words[DiagnosticsLayout.Line.promotion].load(ordering: .relaxed) & ~(0xF << 32)
        unsafe words[DiagnosticsLayout.Line.promotion]
            .store(qosClass.map { word | UInt64($0.rank + 1) << 32 } ?? 0, ordering: .releasing)
    }

    /// Notes that the running job is known to be blocked; `nil` that it runs. With the same lock held.
    ///
    /// - Parameter isDeclared: whether the job has said so itself.
    package func blocked(isDeclared: Bool?) {
        let word = isDeclared.map { step & 0xFFFF_FFFF | ($0 ? 1 << 32 : 2 << 32) as UInt64 } ?? 0
        unsafe words[DiagnosticsLayout.Line.blocked].store(word, ordering: .releasing)
    }

    /// Notes when the worker was first seen in a step. The loop's thread.
    package func seen(in step: UInt64, at time: UInt64) {
        guard unsafe words[DiagnosticsLayout.Line.seenStep].load(ordering: .relaxed) != step else { return }
        unsafe words[DiagnosticsLayout.Line.seenStep].store(0, ordering: .relaxed)
        unsafe words[DiagnosticsLayout.Line.seenAt].store(time, ordering: .releasing)
        unsafe words[DiagnosticsLayout.Line.seenStep].store(step, ordering: .releasing)
    }

    /// Sets the kernel's id of the worker's thread. That thread.
    package func thread(_ id: Int32) {
        unsafe words[DiagnosticsLayout.Line.thread].store(UInt64(UInt32(bitPattern: id)), ordering: .relaxed)
    }
}
