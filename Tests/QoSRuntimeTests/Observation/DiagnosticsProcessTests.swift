import Glibc
import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("What a process shows of its schedulers", .timeLimit(.minutes(5)))
struct DiagnosticsProcessTests {
    /// The scheduler in the memory of this process.
    private func shown(_ scheduler: QoSScheduler) throws -> DiagnosticsPicture.Scheduler {
        let picture = try DiagnosticsReader(process: "self", id: getpid()).picture()
        let number = scheduler.core.group.number
        return try #require(
            picture.schedulers.first { $0.number == number },
            "scheduler \(number) among \(picture.schedulers.map(\.number))")
    }

    /// Runs a body with a scheduler that has a place in the memory. Tests beside this one may have taken all of them.
    private func withShownScheduler<Success>(_ body: (QoSScheduler) async throws -> Success) async throws -> Success {
        while true {
            let success = try await withScheduler { scheduler in
                scheduler.core.group.number > 0 ? try await body(scheduler) : nil
            }
            if let success { return success }
            await Task.yield()
        }
    }

    @Test("the counters that another process reads are those of the snapshot")
    func counters() async throws {
        guard DiagnosticsMapping.process != nil else { return }
        try await withShownScheduler { scheduler in
            for qosClass in QoSClass.allCases {
                for _ in 0..<20 { await scheduler.startTask(at: qosClass) { await Task.yield() }.value }
            }
            var (snapshot, shown) = (scheduler.snapshot, try shown(scheduler))
            // Workers may steal and park meanwhile, and the end of the last job is noted behind its task's.
            while zip(snapshot.pools, shown.classes).contains(where: { $0.jobsRun != $1.jobsEnded }) {
                await Task.yield()
                (snapshot, shown) = (scheduler.snapshot, try self.shown(scheduler))
            }
            #expect(shown.isOpen && shown.processors == UInt64(snapshot.processors) && shown.loopThread > 0)
            for (pool, made) in zip(snapshot.pools, shown.classes) {
                #expect(made.qosClass == pool.qosClass && made.width == UInt64(pool.width))
                #expect(made.widthLimit == nil && made.workers == pool.workers)
                #expect(made.stalls == pool.stalls && made.movedIn == pool.movedIn && made.standIns == pool.standIns)
                #expect(made.raisedByEffects == pool.raisedByEffects && made.raisedByFence == pool.raisedByFence)
            }
            // Awaited tasks run in the class of their waiter, too.
            #expect(shown.classes.reduce(0) { $0 + $1.jobsEnded } >= 100)
            scheduler.core.setWidthLimit(0, of: .background)
            #expect(try self.shown(scheduler).classes.last?.widthLimit == 0)
        }
    }

    @Test("a running job is shown with its kind, its label, and the class to which it was promoted")
    func running() async throws {
        guard DiagnosticsMapping.process != nil else { return }
        try await withShownScheduler { scheduler in
            let (begun, isOver) = (Gate(), Gate())
            let task = scheduler.startTask(at: .background, name: "reindex") {
                begun.open()
                isOver.blockThread()
            }
            await begun.passed()
            let worker = try #require(try shown(scheduler).workers.first { $0.qosClass == .background && $0.isRunning })
            #expect(worker.kind == "task" && worker.label == "reindex" && worker.promotedTo == nil)
            #expect(worker.work == "\(scheduler.core.group.number)/bg-\(worker.index)#1" && worker.thread > 0)
            scheduler.raise(task, to: .userInitiated)
            while scheduler.snapshot.runningPromoted == 0 { await Task.yield() }
            let raised = try #require(try shown(scheduler).workers.first { $0.name == worker.name })
            #expect(raised.promotedTo == .userInitiated && raised.promotionReason == "awaited")
            // The loop notes when it saw the job first.
            while try shown(scheduler).workers.first(where: { $0.name == worker.name })?.seenAt == nil {
                await Task.yield()
            }
            isOver.open()
            await task.value

            let queue = scheduler.makeQueue("ledger", level: .utility)
            let labels = Collected<String?>()
            let label = { @Sendable in
                labels.append(
                    // In the class of the waiter, perhaps.
                    try? self.shown(scheduler).workers.first { $0.kind == "item" }?.label)
            }
            let item = WorkItem {
                label()
                QoS.withLabel("compaction") { label() }
                label()
            }
            try queue.async(item)
            await item.waitUntilFinished()
            #expect(labels.all == ["ledger", "compaction", "ledger"])
        }
    }

    @Test("a promotion for a lock is no longer shown once the lock was given back")
    func takenBack() async throws {
        guard DiagnosticsMapping.process != nil else { return }
        try await withShownScheduler { scheduler in
            let (classes, isOver) = (Collected<QoSClass?>(), Gate())
            // Nothing awaits it before: that would be another promotion.
            let task = scheduler.startTask(at: .background) {
                defer { isOver.open() }
                guard let worker = Worker.current else { return }
                let look = {
                    let workers = try? self.shown(scheduler).workers
                    let shown = workers?.first { $0.qosClass == .background && $0.index == worker.index }
                    classes.append(shown?.promotedTo)
                }
                let promotion = worker.group.raiseHolder(worker, to: .userInitiated)
                look()
                worker.group.endRaiseOfHolder(worker)
                look()
                worker.group.settle(promotion, of: worker.value.identity, .lock(waiter: "test", name: nil))
            }
            await isOver.passed()
            await task.value
            #expect(classes.all == [.userInitiated, nil])
        }
    }

    @Test("X3 an activity is shown while it lasts, with its parent and level; its notes name it, from any thread")
    func activities() async throws {
        guard DiagnosticsMapping.process != nil else { return }
        @Sendable func picture() throws -> DiagnosticsPicture {
            try DiagnosticsReader(process: "self", id: getpid()).picture()
        }
        // Tests beside this one write into the ring of all threads, and a note may be overwritten before the look.
        @Sendable func event(_ text: String, _ note: () throws -> Void) throws -> DiagnosticsPicture.Event {
            let activity = try #require(QoS.activity)
            while true {
                try note()
                let found = try picture().events.last { $0.activity == activity.id && $0.text == text }
                if let found { return found }
            }
        }
        try await withShownScheduler { scheduler in
            let task = scheduler.startTask(at: .utility) {
                try await QoS.performActivity(.background, reason: "outer") {
                    let message = try event("a message") { QoS.trace("a message") }
                    #expect(message.kind == "message")
                    let outer = try #require(QoS.activity)
                    return try await QoS.withActivity("inner") {
                        let inner = try #require(QoS.activity)
                        try await Task {
                            let found = try event("a crumb") { QoS.leaveBreadcrumb("a crumb") }
                            #expect(found.kind == "breadcrumb" && found.activity == inner.id)
                        }.value
                        let context = ExecutionContext.current
                        let ofThread = try event("of a thread") {
                            try RunningThread(name: "notes") { context.run { QoS.trace("of a thread") } }.join()
                        }
                        #expect(ofThread.work.hasPrefix("thread "))
                        let shown = try picture().activities
                        let one = shown.first { $0.id == outer.id }
                        let other = shown.first { $0.id == inner.id }
                        #expect(one?.name == "outer" && one?.parent == nil && one?.level == .background)
                        #expect(other?.name == "inner" && other?.parent == outer.id && other?.level == .background)
                        #expect((other?.begin ?? 0) >= (one?.begin ?? .max))
                        return [outer.id, inner.id]
                    }
                }
            }
            let ended = try await task.value
            #expect(try !picture().activities.contains { ended.contains($0.id) })
        }
    }

    @Test("several schedulers have places of their own, and an ended one leaves its place")
    func several() async throws {
        guard DiagnosticsMapping.process != nil else { return }
        let place = try await withShownScheduler { first in
            try await withShownScheduler { second in
                await second.startTask(at: .utility) {}.value
                #expect(try shown(first).workers.isEmpty && shown(second).workers.count == 1)
                return try shown(second)
            }
        }
        // The last reference goes a moment later. Another test may take the number then.
        let reader = try DiagnosticsReader(process: "self", id: getpid())
        while reader.picture().schedulers.contains(where: {
            $0.number == place.number && $0.began == place.began && $0.isOpen
        }) {
            await Task.yield()
        }
    }

    /// The process of a driver that has begun what it shows.
    private static func begin(_ setting: String) async throws -> (driver: DriverProcess, process: Int32) {
        let driver = try DriverProcess(script: "QOS_DIAGNOSTICS=$1 exec \"$0\" is-diagnosed", setting)
        var process: Int32?
        await driver.printed { line in
            guard line.hasPrefix("process=") else { return false }
            process = Int32(line.dropFirst("process=".count).dropLast())
            return true
        }
        return (driver, try #require(process))
    }

    private func expectWork(of picture: DiagnosticsPicture, in process: Int32) throws {
        let scheduler = try #require(picture.schedulers.first)
        #expect(picture.process == UInt64(process))
        let task = try #require(scheduler.workers.first { $0.qosClass == .background && $0.isRunning })
        #expect(task.label == "reindex" && task.promotedTo == .userInitiated)
        let item = try #require(scheduler.workers.first { $0.qosClass == .utility && $0.isRunning })
        #expect(item.kind == "item" && item.label == "ledger")
        #expect(picture.events.contains { $0.kind == "promotedRunning" && $0.work == task.work })
        let activity = try #require(picture.activities.first { $0.name == "rebuild of the index" })
        #expect(activity.parent == nil && activity.level == nil && "\(activity.work)" == task.work)
        #expect(activity.begin >= scheduler.began && activity.originator == nil && picture.activitiesLost == 0)
        let note = picture.events.first { $0.activity == activity.id }
        #expect(note?.kind == "breadcrumb" && note?.text == "index opened" && note?.work == task.work)
    }

    @Test("a stopped process is read; without a file nothing is left of a killed one", .tags(.process))
    func stopped() async throws {
        let (driver, process) = try await Self.begin("on")
        driver.send(SIGSTOP)
        while ThreadUsage.all(of: "\(process)").values.contains(where: { $0.state != "T" }) { await Task.yield() }
        try expectWork(of: DiagnosticsReader(process: "\(process)", id: process).picture(), in: process)
        driver.send(SIGKILL)
        #expect(await driver.ending().wasKilledBySignal)
        #expect(throws: DiagnosticsReader.Problem.noProcess(process)) {
            try DiagnosticsReader(process: "\(process)", id: process)
        }
    }

    @Test("X4 the file of a killed process tells what its workers ran, and in which activity", .tags(.process))
    func killed() async throws {
        let folder = try TemporaryFolder("qos-killed")
        #expect(unsafe chmod(folder.path, 0o700) == 0)
        let (driver, process) = try await Self.begin(folder.path)
        // While it runs, it is found by its id, too.
        try expectWork(of: DiagnosticsReader(process: "\(process)", id: process).picture(), in: process)
        driver.send(SIGKILL)
        #expect(await driver.ending().wasKilledBySignal)
        try expectWork(of: DiagnosticsReader(file: folder["qos-diagnostics-\(process)"]).picture(), in: process)
    }

    @Test("the folder of the file may be a link, as systemd makes it for a dynamic user", .tags(.process))
    func linked() async throws {
        let folder = try TemporaryFolder("qos-linked")
        try folder.write("private/.there")
        #expect(unsafe chmod(folder["private"], 0o700) == 0)
        #expect(unsafe symlink("private", folder["link"]) == 0)
        let (driver, process) = try await Self.begin(folder["link"])
        let reader = try DiagnosticsReader(file: folder["private/qos-diagnostics-\(process)"])
        #expect(reader.isHeld)
        driver.send(SIGKILL)
        #expect(await driver.ending().wasKilledBySignal)
        #expect(!reader.isHeld)
    }

    @Test("of the files of killed processes the newest few stay, and all that are another's or in use", .tags(.process))
    func accumulated() async throws {
        let folder = try TemporaryFolder("qos-left")
        #expect(unsafe chmod(folder.path, 0o700) == 0)
        let left = (1...7).map { "qos-diagnostics-\($0)\($0 == 6 ? ".old" : "")" }
        for (age, name) in (left + ["qos-diagnostics-notes"]).enumerated() {
            try folder.write(name, "left")
            let time = timeval(tv_sec: 1_000_000 + age, tv_usec: 0)
            #expect(unsafe utimes(folder[name], [time, time]) == 0)
        }
        let used = unsafe open(folder[left[0]], O_RDONLY | O_CLOEXEC)
        try #require(used >= 0 && flock(used, LOCK_EX | LOCK_NB) == 0)
        defer { close(used) }
        let driver = try DriverProcess(script: "QOS_DIAGNOSTICS=$1 exec \"$0\" returns", folder.path)
        #expect(await driver.ending().status == 0)
        #expect(Set(KernelFolder.names(in: folder.path)) == Set([left[0]] + left[3...] + ["qos-diagnostics-notes"]))
    }

    @Test("the file of a process that is about to take its lock stays", .tags(.process))
    func begun() async throws {
        let folder = try TemporaryFolder("qos-begun")
        #expect(unsafe chmod(folder.path, 0o700) == 0)
        // Empty, and without a lock: its process has made it just now.
        try folder.write("qos-diagnostics-1")
        let left = (2...6).map { "qos-diagnostics-\($0)" }
        for (age, name) in (["qos-diagnostics-1"] + left).enumerated() {
            if age > 0 { try folder.write(name, "left") }
            let time = timeval(tv_sec: 1_000_000 + age, tv_usec: 0)
            #expect(unsafe utimes(folder[name], [time, time]) == 0)
        }
        let driver = try DriverProcess(script: "QOS_DIAGNOSTICS=$1 exec \"$0\" returns", folder.path)
        #expect(await driver.ending().status == 0)
        #expect(Set(KernelFolder.names(in: folder.path)) == Set(["qos-diagnostics-1"] + left[1...]))
    }

    @Test("a process that ends in order leaves no file", .tags(.process))
    func ended() async throws {
        let folder = try TemporaryFolder("qos-ended")
        #expect(unsafe chmod(folder.path, 0o700) == 0)
        let driver = try DriverProcess(script: "QOS_DIAGNOSTICS=$1 exec \"$0\" returns", folder.path)
        #expect(await driver.ending().status == 0)
        #expect(KernelFolder.names(in: folder.path).isEmpty)
    }

    @Test("a process with the setting off shows nothing, and its schedulers work", .tags(.process))
    func off() async throws {
        let (driver, process) = try await Self.begin("off")
        #expect(throws: DiagnosticsReader.Problem.nothing(process)) {
            try DiagnosticsReader(process: "\(process)", id: process)
        }
        driver.send(SIGKILL)
        #expect(await driver.ending().wasKilledBySignal)
    }
}

private enum KernelFolder {
    static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return ["no folder"] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
