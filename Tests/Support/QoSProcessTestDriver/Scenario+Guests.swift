import CQoSTestSupport
import Dispatch
import Foundation
import Glibc
import QoSCore
import QoSKernel
import QoSOperations
import QoSRuntime

/// Threads and children of others that code of ours makes: what each of them has, beside the process's start.
///
/// One process for each maker, so that no thread is left over from another one. The arguments are the maker,
/// `unprivileged` for a process that may not raise threads, and `inherit` for one that switches it off.
enum GuestTable {
    /// The code that makes them.
    enum Maker {
        /// A worker of the process's scheduler.
        case pool(QoSClass)
        /// A worker of a scheduler beside Swift's default executor.
        case preference(QoSClass)
        /// The main actor, of a service or of a process that a person uses.
        case mainActor(QoSProcess.Kind)
        /// A thread with a level of its own, and an operation; both of background.
        case thread, operation

        init?(_ text: String) {
            let parts = text.split(separator: "-").map(String.init)
            let last = parts.last ?? ""
            switch parts.first {
            case "pool": self = .pool(QoSClass.allCases.first { $0.abbreviation == last } ?? .default)
            case "preference": self = .preference(QoSClass.allCases.first { $0.abbreviation == last } ?? .default)
            case "main": self = .mainActor(last == "interactive" ? .interactive : .service)
            case "thread": self = .thread
            case "operation": self = .operation
            default: return nil
            }
        }
    }

    static var maker: Maker { Maker(Driver.argument(2)) ?? .pool(.default) }

    private static let isUnprivileged = Driver.argument(3) == "unprivileged" || geteuid() != 0

    /// The scheduling with which the process began. Read first on the main thread.
    private static let start = own

    /// The scheduling of the calling thread.
    private static var own: String { unsafe text { unsafe cqos_test_scheduling($0, $1, 1) } }

    /// The signal mask of Dispatch's threads, which threads of libraries have that are made on one of ours.
    private static let dispatchMask = "fffffffe3bfbea27"

    /// Notes the start of the process, and takes its rights away. On the main thread, before all others.
    static func begin() {
        if Driver.argument(4) == "inherit", unsafe getenv("QOS_LIBRARY_THREADS") == nil {
            // It is read at the start of a program.
            unsafe setenv("QOS_LIBRARY_THREADS", "inherit", 1)
            var arguments = unsafe CommandLine.arguments.map { unsafe strdup($0) } + [nil]
            unsafe execv(program, &arguments)
        }
        if isUnprivileged { cqos_test_drop_sys_nice() }
        _ = start
    }

    /// Prints what a child process of others has.
    static func beChild() {
        let hasNice: Int32 = Driver.argument(1) == Scenario.guestChild.rawValue ? 1 : 0
        print(unsafe text { unsafe cqos_test_scheduling($0, $1, hasNice) })
    }

    // MARK: The makers

    /// Runs the table in a process of ``QoSProcess``.
    static func runInProcess() async throws {
        switch maker {
        case .pool(let qosClass):
            guard let scheduler = QoSProcess.scheduler else { return }
            try await make(on: scheduler, qosClass)
        case .mainActor: await MainActor.run { make() }
        case .thread:
            let thread = QoSThread(name: "maker", level: .background) { make() }
            try thread.start()
            try await thread.value
        case .operation:
            guard let scheduler = QoSProcess.scheduler else { return }
            let queue = QoSOperationQueue(scheduler: scheduler, level: .background)
            let operation = QoSOperation(level: .background) { make() }
            try queue.add(operation)
            try await operation.value
        case .preference: break
        }
    }

    /// Runs the table beside the default executor. The main thread waits.
    static func runBesideDefaultExecutor() -> Int32? {
        guard case .preference(let qosClass) = maker else { return nil }
        let ended = DispatchSemaphore(value: 0)
        guard let scheduler = try? QoSScheduler() else { return 1 }
        let task = Task(executorPreference: scheduler.executor(for: qosClass)) {
            defer { ended.signal() }
            try await make(on: scheduler, qosClass)
            // The first task that leaves the pool makes a thread of the default executor.
            let other = await Task.detached { own }.value
            say("default-executor", other, expected(dispatchMask))
        }
        ended.wait()
        _ = task
        return 0
    }

    private static func make(on scheduler: QoSScheduler, _ qosClass: QoSClass) async throws {
        let failure = await withCheckedContinuation { continuation in
            // Awaiting the task itself would raise it.
            Task.detached(executorPreference: scheduler.executor(for: qosClass), priority: qosClass.taskPriority) {
                Driver.say("maker", threadName)
                make()
                do {
                    try await makeScheduler()
                    continuation.resume(returning: nil as (any Error)?)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
        if let failure { throw failure }
    }

    /// A scheduler that this code makes has the effects of its classes.
    private static func makeScheduler() async throws {
        let inner = try QoSScheduler()
        say("scheduler-processors", "\(inner.snapshot.processors)", processors(start))
        for qosClass in [QoSClass.userInitiated, .utility] {
            await Task(executorPreference: inner.executor(for: qosClass)) {}.value
            let missing = inner.workerEffects.filter { $0.applied.qosClass == qosClass }
                .flatMap { Set($0.applied.missing.map(\.rawValue)).intersection(["nice", "policy"]) }
            say("scheduler-missing-\(qosClass.abbreviation)", missing.joined(separator: ","), "")
        }
        try await inner.shutdown()
    }

    // MARK: The ways

    /// Makes a thread and a process in each way, from the calling thread.
    private static func make() {
        let isOnMain = isMainThread
        let ofThreads = isOnMain ? expected(mask(start)) : expected(dispatchMask)
        say("dispatch", onDispatch(), expected(dispatchMask))
        say("pthread", unsafe text { unsafe cqos_test_scheduling_of_pthread($0, $1) }, ofThreads)
        say("std-thread", unsafe text { unsafe cqos_test_scheduling_of_std_thread($0, $1) }, ofThreads)
        say("foundation-thread", onFoundationThread(), ofThreads)
        let ofChildren = expected(mask(start))
        let ways = [
            ("posix-spawn", CQOS_TEST_SPAWN), ("posix-spawnp", CQOS_TEST_SPAWN_PATH), ("system", CQOS_TEST_SYSTEM),
            ("popen", CQOS_TEST_POPEN), ("fork", CQOS_TEST_FORK),
        ]
        for (name, way) in ways {
            // Without a privilege nothing gives a forked child its nice value back.
            let isWithoutNice = name == "fork" && isUnprivileged
            let child = unsafe text { place, size in
                unsafe cqos_test_run(
                    way, program, isWithoutNice ? "guest-child-without-nice" : "guest-child", place, size)
            }
            say(name, child, isWithoutNice ? withoutNice(ofChildren) : ofChildren)
        }
        say("foundation-process", asFoundationProcess(), ofChildren)
        say("thread-in-forked-child", cqos_test_thread_in_forked_child() == 0 ? "made" : "not made", "made")
        askForProcessors()
        say("qos-thread-missing", ofQoSThread(), "")
    }

    private static func askForProcessors() {
        let all = "\(processors(start))"
        say("asks-sched", "\(cqos_test_processors(CQOS_TEST_SCHED))", all)
        say("asks-pthread", "\(cqos_test_processors(CQOS_TEST_PTHREAD))", all)
        say("asks-sysconf", "\(cqos_test_processors(CQOS_TEST_SYSCONF) >= (Int32(all) ?? 0))", "true")
        say("asks-cpp", "\(cqos_test_processors(CQOS_TEST_CPP) >= (Int32(all) ?? 0))", "true")
        say("asks-foundation", "\(ProcessInfo.processInfo.activeProcessorCount)", all)
    }

    private static func onDispatch() -> String {
        let result = Lock("")
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            result.withLock { $0 = own }
            ended.signal()
        }
        ended.wait()
        return result.withLock { $0 }
    }

    private static func onFoundationThread() -> String {
        let result = Lock("")
        let ended = DispatchSemaphore(value: 0)
        Foundation.Thread.detachNewThread {
            result.withLock { $0 = own }
            ended.signal()
        }
        ended.wait()
        return result.withLock { $0 }
    }

    private static func asFoundationProcess() -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["guest-child"]
        let pipe = Pipe()
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return "not started" }
        let output = (try? pipe.fileHandleForReading.readToEnd()) ?? nil
        return String(decoding: output ?? Data(), as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Rule T1: a thread with a level inherits nothing, and gets the effects of its class.
    private static func ofQoSThread() -> String {
        let thread = QoSThread(name: "high", level: .userInitiated) {}
        guard (try? thread.start()) != nil, (try? thread.join()) != nil else { return "not started" }
        return thread.missingEffects.intersection(["nice", "policy"]).sorted().joined(separator: ",")
    }

    // MARK: Text

    private static let program =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/proc/self/exe"

    private static func text(_ write: (UnsafeMutablePointer<CChar>, Int) -> Void) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            unsafe start.pointee = 0
            unsafe write(start, buffer.count)
            return unsafe String(cString: start)
        }
    }

    private static func expected(_ mask: String) -> String {
        start.prefix { $0 != "m" } + "mask " + mask
    }

    private static func mask(_ text: String) -> String { String(text.split(separator: " ").last ?? "") }

    private static func processors(_ text: String) -> String {
        String(text.split(separator: " ").dropFirst().first ?? "")
    }

    private static func withoutNice(_ text: String) -> String {
        var words = text.split(separator: " ")
        if let place = words.firstIndex(of: "nice") { words.removeSubrange(place...(place + 1)) }
        return words.joined(separator: " ")
    }

    private static func say(_ name: String, _ found: String, _ wanted: String) {
        Driver.say(name, found == wanted ? "as at the start" : "\(found) instead of \(wanted)")
    }
}
