import CQoSShims
import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// A task's name is in the first record of its status, and the library tells it to the task itself alone
// (`TaskNameStatusRecord` and `ActiveTaskStatus` in the library's `TaskStatus.h` and `TaskPrivate.h`). The records form
// a list from the latest to the first. A running task changes its list, so only the list of a task that waits may be
// read. A worker therefore notes the name of a task before it runs the task.

extension ConcurrencyRuntime {
    /// The distance from a task's address to the word with its latest record, in bytes; 0 while it is unknown. The
    /// status's flags are in the word before.
    private static let recordOffset = Atomic<UInt>(0)

    /// The kind of a record with a name: the first byte of its first word. The second word is the next record, the
    /// third the name.
    private static let nameKind = Atomic<UInt8>(0)

    /// The bit of a running task in the status's flags; 0 while it is unknown.
    private static let runningFlag = Atomic<UInt32>(0)

    /// The bit of a task with a name in a job's flags (`Task_HasInitialTaskName` in the library's `MetadataValues.h`).
    private static let namedFlag: UInt32 = 1 << 30

    /// The bound of a walk along the records of a task.
    private static let mostRecords = 64

    /// Whether the names of waiting tasks can be read.
    package static var seesNames: Bool { recordOffset.load(ordering: .relaxed) != 0 }

    /// Returns whether a job is a task with a name that ``nameAddress(of:)`` finds.
    @inline(__always)
    static func hasName(_ job: UnownedJob) -> Bool { seesRunningTasks && flags(of: job) & namedFlag != 0 && seesNames }

    /// Returns the address of the name of a queued or suspended task; 0 for a task without one. The name is in the task's
    /// memory.
    @inline(never)
    static func nameAddress(of task: TaskAddress) -> UInt {
        guard hasName(JobNode(address: task.rawValue).job) else { return 0 }
        // SAFETY: the layout was verified. The task does not run, so its list stands still.
        var record = word(at: task.rawValue + recordOffset.load(ordering: .relaxed))
        for _ in 0..<mostRecords where record != 0 {
            if UInt8(truncatingIfNeeded: word(at: record)) == nameKind.load(ordering: .relaxed) {
                return word(at: record + 16)
            }
            record = word(at: record + 8)
        }
        return 0
    }

    /// Returns the name of a queued or suspended task; `nil` for a task without one.
    static func name(of task: TaskAddress) -> String? {
        let address = nameAddress(of: task)
        return address == 0 ? nil : name(at: address)
    }

    /// Returns the name that a queued job's task was given; `nil` for a task without one, and for other jobs.
    package static func name(of job: UnownedJob) -> String? { task(of: job).flatMap(name(of:)) }

    /// Returns the name at an address of ``nameAddress(of:)``, while its task is alive.
    static func name(at address: UInt) -> String {
        // SAFETY: the library copies the name into the task's memory, with a zero at its end.
        unsafe String(cString: UnsafePointer<CChar>(bitPattern: address).unsafelyUnwrapped)
    }

    /// Returns the name of a task that awaits a queued job's task or the root of its parents: the latest such task, if it
    /// has a name. The job cannot run meanwhile.
    static func nameOfWaiter(for job: UnownedJob) -> String? {
        guard let task = task(of: call(servedBy: job) ?? job) else { return nil }
        return latestWaiter(of: root(ofChild: job) ?? task).flatMap(name(of:))
    }

    /// Returns whether a live task runs on a thread at this moment; `nil` if that cannot be seen.
    static func isRunning(_ task: TaskAddress) -> Bool? {
        let (offset, flag) = (recordOffset.load(ordering: .relaxed), runningFlag.load(ordering: .relaxed))
        guard offset != 0, flag != 0 else { return nil }
        // SAFETY: the layout was verified. The library changes the word with atomic instructions.
        return statusFlags(of: task.rawValue, at: offset) & flag != 0
    }

    private static func word(at address: UInt) -> UInt {
        unsafe UnsafePointer<UInt>(bitPattern: address).unsafelyUnwrapped.pointee
    }

    private static func statusFlags(of task: UInt, at offset: UInt) -> UInt32 {
        unsafe UnsafePointer<Atomic<UInt32>>(bitPattern: task + offset - 8).unsafelyUnwrapped.pointee
            .load(ordering: .relaxed)
    }

    // MARK: Verification

    /// Makes two tasks with names, looks for the names in their memory, and lets each look at its own flags.
    ///
    /// All of it happens on the calling thread.
    static func learnNameLayout() {
        // What is left in memory differs from one time to the next.
        for _ in 0..<4 where !seesNames {
            let (first, second) = (nameProbe("swift-qos: a name"), nameProbe("swift-qos: another name"))
            for one in first {
                guard let other = second.first(where: { $0.offset == one.offset }), other.kind == one.kind,
                    one.change == other.change
                else { continue }
                // The word before a place that only looks like the status does not change so.
                let changed = one.change & one.flagsWhileRunning
                guard changed.nonzeroBitCount == 1 else { continue }
                runningFlag.store(changed, ordering: .relaxed)
                nameKind.store(one.kind, ordering: .relaxed)
                recordOffset.store(one.offset, ordering: .relaxed)
                return
            }
        }
    }

    /// A word of a task that leads to a record with its name, and the flags in the word before.
    private struct NamePlace {
        let offset: UInt
        /// The record's kind.
        let kind: UInt8
        let flagsBefore: UInt32
        var flagsWhileRunning: UInt32 = 0

        var change: UInt32 { flagsBefore ^ flagsWhileRunning }
    }

    // SAFETY: used by one thread.
    private final class SeenPlaces: @unchecked Sendable {
        var places: [NamePlace] = []
    }

    /// Returns the places of a name in a new task's memory, with the flags as they are before and while it runs; none if
    /// the task's flags do not say that it has a name.
    private static func nameProbe(_ name: String) -> [NamePlace] {
        let (executor, seen) = (Holding(), SeenPlaces())
        let task = Task.detached(name: name, executorPreference: executor) {
            guard let own = currentTask else { return }
            for index in seen.places.indices {
                let flags = statusFlags(of: own.rawValue, at: seen.places[index].offset)
                seen.places[index].flagsWhileRunning = flags
            }
        }
        guard let job = executor.job else { return [] }
        defer {
            executor.runsAtOnce = true
            withExtendedLifetime((task, executor)) {}
        }
        // Now, while the task is alive.
        if flags(of: job) & namedFlag != 0 { seen.places = placesOfName(name, in: JobNode(job).address) }
        unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        return seen.places
    }

    /// Returns the words of a task that lead to a record with its name.
    ///
    /// Any word of the task may be an address or not. So the memory behind it is read by the kernel, which refuses what
    /// is no memory of the process (process_vm_readv(2)). If the kernel allows no such reading, the names stay unknown.
    ///
    /// The task's memory was used before, and may hold old addresses of this thread's stack. There the option with which
    /// the name was given may still stand, and it looks like the record. So there may be several places.
    private static func placesOfName(_ name: String, in task: UInt) -> [NamePlace] {
        var places: [NamePlace] = []
        let size = unsafe UInt(cqos_allocated_size(UnsafeRawPointer(bitPattern: task).unsafelyUnwrapped))
        let expected = Array(name.utf8) + [0]
        for offset in stride(from: UInt(JobNode.linkOffset) + 32, through: size - 8, by: 8) {
            var record = word(at: task + offset)
            for _ in 0..<4 where record != 0 && record & 7 == 0 {
                guard let words = read(UInt.self, 3, at: record) else { break }
                if words[2] != 0, read(UInt8.self, expected.count, at: words[2]) == expected {
                    places.append(
                        NamePlace(
                            offset: offset, kind: UInt8(truncatingIfNeeded: words[0]),
                            flagsBefore: statusFlags(of: task, at: offset)))
                    break
                }
                record = words[1]
            }
        }
        return places
    }

    /// Reads values of the process's memory at an address that may be none; `nil` if it is none.
    private static func read<Value: BitwiseCopyable & ExpressibleByIntegerLiteral>(
        _ type: Value.Type, _ count: Int, at address: UInt
    ) -> [Value]? {
        var values = [Value](repeating: 0, count: count)
        let length = count * MemoryLayout<Value>.stride
        let done = unsafe values.withUnsafeMutableBytes { bytes in
            unsafe cqos_read_memory(address, bytes.baseAddress, length)
        }
        return done == length ? values : nil
    }
}
