import FoundationEssentials
import QoSCore
import QoSFileTestSupport
import QoSRuntime
import QoSTesting
import QoSWorkloadsTesting
import Testing

@testable import QoSWorkloads

@Suite("Items on file events")
struct FileEventTests {
    /// A world with a host that watches simulated files, and the times at which runs begin.
    private func world(
        _ files: SimulatedFiles, _ change: (inout WorkloadHost.Configuration) -> Void = { _ in }
    ) throws -> (world: HostWorld, host: WorkloadHost, runs: Collected<Duration>) {
        let world = HostWorld()
        let runs = Collected<Duration>()
        let host = try world.host([
            Scripted { _, _ in
                // Without the nanosecond in which the host has begun.
                runs.append(.milliseconds(Int64(world.clock.elapsed / .milliseconds(1))))
                return .finished
            }
        ]) {
            $0.files = files
            change(&$0)
        }
        return (world, host, runs)
    }

    private func schedule(_ paths: String..., settling: Duration = .seconds(2)) -> WorkloadSchedule {
        .onFileEvents(FileEventTrigger(paths: paths, settling: settling, limit: .seconds(10)))
    }

    @Test("a change in a watched folder starts a run after it has settled, and one elsewhere starts none")
    func change() throws {
        let files = SimulatedFiles(folders: ["/srv", "/srv/photos", "/srv/other"])
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/srv/photos/"))
            try await world.sleep(.seconds(10))
            files.makeFile("/srv/other/a")
            try await world.sleep(.seconds(10))
            files.makeFile("/srv/photos/a")
            try await world.sleep(.seconds(10))
            files.change("/srv/photos/a")
            try await world.sleep(.seconds(10))
        }
        #expect(runs.values == [.seconds(22), .seconds(32)])
    }

    @Test("an update of the item's path is followed, without a restart")
    func update() throws {
        let files = SimulatedFiles(folders: ["/srv", "/srv/a", "/srv/b"])
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            let key = UniqueKey("k", onDuplicate: .update)
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/srv/a/"), unique: key)
            try await world.sleep(.seconds(10))
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/srv/b/"), unique: key)
            try await world.sleep(.seconds(10))
            files.makeFile("/srv/a/x")
            try await world.sleep(.seconds(10))
            files.makeFile("/srv/b/x")
            try await world.sleep(.seconds(10))
        }
        #expect(runs.values == [.seconds(32)])
    }

    @Test("events without a pause start a run at the limit, with a few calls of the store")
    func stream() throws {
        let files = SimulatedFiles(folders: ["/srv"])
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/srv"))
            try await world.sleep(.seconds(10))
            let before = world.store.count(of: .noteFileChange)
            for number in 0..<1000 {
                files.makeFile("/srv/\(number)")
                try await world.sleep(.milliseconds(9))
            }
            #expect(world.store.count(of: .noteFileChange) - before <= 19)
            try await world.sleep(.seconds(20))
        }
        // 9 s of events end before the limit of 10 s. The last note may come half a second late.
        #expect(runs.values.count == 1)
        #expect(runs.values.allSatisfy { $0 >= .seconds(20) && $0 <= .milliseconds(21_500) })
    }

    @Test("a file is watched through its folder, also when it is replaced, and its neighbors do not matter")
    func file() throws {
        let files = SimulatedFiles(folders: ["/etc"])
        files.makeFile("/etc/settings")
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/etc/settings"))
            try await world.sleep(.seconds(10))
            files.makeFile("/etc/other")
            try await world.sleep(.seconds(10))
            files.remove("/etc/settings")
            files.makeFile("/etc/settings")
            try await world.sleep(.seconds(10))
            files.change("/etc/settings")
            try await world.sleep(.seconds(10))
        }
        #expect(runs.values == [.seconds(22), .seconds(32)])
    }

    @Test("a path that names nothing is watched from its nearest folder, and followed as it appears")
    func missing() throws {
        let files = SimulatedFiles(folders: ["/srv"])
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/srv/a/b/photos"))
            try await world.sleep(.seconds(10))
            #expect(files.watched == ["/srv"])
            files.makeFolder("/srv/a")
            try await world.sleep(.seconds(10))
            #expect(files.watched == ["/srv/a"])
            #expect(runs.values.isEmpty)
            files.makeFolder("/srv/a/b")
            files.makeFolder("/srv/a/b/photos")
            try await world.sleep(.seconds(10))
            #expect(files.watched == ["/srv/a/b", "/srv/a/b/photos"])
            files.makeFile("/srv/a/b/photos/1")
            try await world.sleep(.seconds(10))
            files.remove("/srv/a")
            try await world.sleep(.seconds(10))
        }
        #expect(runs.values == [.seconds(22), .seconds(32), .seconds(42)])
    }

    @Test("a folder that is replaced is watched anew")
    func replaced() throws {
        let files = SimulatedFiles(folders: ["/srv", "/srv/photos"])
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/srv/photos"))
            try await world.sleep(.seconds(10))
            files.remove("/srv/photos")
            files.makeFolder("/srv/photos")
            try await world.sleep(.seconds(10))
            files.makeFile("/srv/photos/1")
            try await world.sleep(.seconds(10))
        }
        #expect(runs.values == [.seconds(12), .seconds(22)])
    }

    @Test("lost events count as a change of everything")
    func overflow() throws {
        let files = SimulatedFiles(folders: ["/a", "/b"])
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/a"))
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/b/file"))
            try await world.sleep(.seconds(10))
            files.makeFile("/b/file")
            try await world.sleep(.seconds(10))
            files.overflow()
            try await world.sleep(.seconds(10))
        }
        #expect(runs.values == [.seconds(12), .seconds(22), .seconds(22)])
    }

    @Test("without a free watch the host says so once, looks from time to time, and watches when it can")
    func limit() throws {
        let files = SimulatedFiles(folders: ["/srv"])
        files.setLimit(0)
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/srv"))
            try await world.sleep(.seconds(100))
            files.makeFile("/srv/1")
            try await world.sleep(.seconds(100))
            files.setLimit(10)
            try await world.sleep(.seconds(100))
            #expect(files.watched == ["/", "/srv"])
            files.makeFile("/srv/2")
            try await world.sleep(.seconds(100))
        }
        #expect(runs.values.count == 2)
        #expect(runs.values.first.map { $0 > .seconds(100) && $0 <= .seconds(133) } ?? false)
        #expect(runs.values.last == .seconds(302))
        let notices = world.events.compactMap { event -> String? in
            if case .folderNotWatched(let folder, _, _) = event { folder } else { nil }
        }
        #expect(notices.sorted() == ["/", "/srv"])
        #expect(
            world.events.contains {
                "\($0)" == "the folder /srv cannot be watched, and is looked at every 30.0 seconds: no watch is left"
            })
    }

    @Test("watches come and go with the items, and items of other workloads are not watched")
    func comeAndGo() throws {
        let files = SimulatedFiles(folders: ["/a", "/b", "/c"])
        let (world, host, _) = try world(files)
        try world.run([host]) {
            try await world.sleep(.seconds(10))
            #expect(files.watched.isEmpty)
            let first = try await host.submit(Scripted.self, .init(), schedule: schedule("/a"))
            try await world.sleep(.seconds(10))
            #expect(files.watched == ["/", "/a"])
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/b"))
            _ = try await host.submit([WorkloadRequest("other", schedule: schedule("/c"))])
            try await world.sleep(.seconds(10))
            #expect(files.watched == ["/", "/a", "/b"])
            try await first.cancel(because: "over")
            try await world.sleep(.seconds(10))
            #expect(files.watched == ["/", "/b"])
            host.stop()
            try await world.sleep(.seconds(10))
            #expect(files.watched.isEmpty, "the end of the host ends its watches")
        }
    }

    @Test("the begin of a host counts as a change, unless missed runs are skipped")
    func begin() throws {
        let files = SimulatedFiles(folders: ["/a"])
        let (world, host, runs) = try world(files)
        let skipping = Collected<WorkloadItem>()
        try world.run([]) {
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/a"))
            skipping.append(
                try await host.submit(Scripted.self, .init(), schedule: schedule("/a"), catchUp: .skip))
            world.scheduler.startDetachedTask(at: .default) { try? await host.run() }
            try await world.sleep(.seconds(100))
            #expect(try await skipping.values.first?.record?.life.finishedRuns == 0)
            host.stop()
        }
        #expect(runs.values == [.seconds(2)])
    }

    @Test("a store that fails loses no change")
    func failingStore() throws {
        let files = SimulatedFiles(folders: ["/a"])
        let (world, host, runs) = try world(files)
        try world.run([host]) {
            try await world.begin()
            _ = try await host.submit(Scripted.self, .init(), schedule: schedule("/a"))
            try await world.sleep(.seconds(10))
            world.store.fail([.noteFileChange])
            files.makeFile("/a/1")
            try await world.sleep(.seconds(10))
            world.store.fail([])
            try await world.sleep(.seconds(10))
        }
        #expect(runs.values.count == 1)
        #expect(runs.values.allSatisfy { $0 <= .seconds(23) })
    }

    @Test("a path says which folders to watch for it")
    func needs() {
        let kinds: [String: WatchedFileKind] = ["/": .folder, "/a": .folder, "/a/f": .file]
        func needs(_ path: String) -> [WatchedPath.Need] { WatchedPath(path) { kinds[$0] ?? .missing }.needs }
        #expect(needs("/") == [.init(folder: "/", name: nil)])
        #expect(needs("//a/./") == [.init(folder: "/a", name: nil), .init(folder: "/", name: "a")])
        #expect(needs("/a/f") == [.init(folder: "/a", name: "f")])
        #expect(needs("/a/f/below/a/file") == [.init(folder: "/a", name: "f")])
        #expect(needs("/x/y/z") == [.init(folder: "/", name: "x")])
    }

    /// `Scripts/test` runs this once more with a kernel that has no watch left, and says so by `QOS_TEST_FILE_WATCHES`.
    @Test("changes of real files start runs, also of a path that appears later")
    func realFiles() async throws {
        let scheduler = try QoSScheduler()
        let folder = try TemporaryFolder("file-events")
        let runs = AsyncStream.makeStream(of: String.self)
        let store = InMemoryWorkloadStore()
        let events = Collected<String>()
        var configuration = WorkloadHost.Configuration()
        configuration.fileLookInterval = .milliseconds(200)
        configuration.observer = { events.append("\($0)") }
        let host = try WorkloadHost(
            store: store, scheduler: scheduler,
            workloads: [
                Scripted { parameters, _ in
                    runs.continuation.yield(parameters.text)
                    return .finished
                }
            ], configuration: configuration)
        let running = Task { try await host.run() }
        var begun = runs.stream.makeAsyncIterator()
        func submit(_ text: String, _ path: String) async throws {
            let trigger = FileEventTrigger(paths: [path], settling: .milliseconds(50), limit: .seconds(1))
            _ = try await host.submit(Scripted.self, .init(text: text), schedule: .onFileEvents(trigger))
        }
        try await submit("photos", folder["photos"])
        // Until the watch is there, nothing happens: write until the run begins.
        let writer = Task {
            for number in 0... {
                try folder.write("photos/\(number)", "x")
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        #expect(await begun.next() == "photos")
        writer.cancel()
        let refusals = events.values.filter { $0.contains("raise the number of watched files") }
        #expect(refusals.isEmpty == (ProcessInfo.processInfo.environment["QOS_TEST_FILE_WATCHES"] != "none"))
        host.stop()
        try await running.value
        try await scheduler.shutdown()
    }
}
