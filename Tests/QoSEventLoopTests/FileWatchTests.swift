import Glibc
import QoSFileTestSupport
import Synchronization
import Testing

@testable import QoSEventLoop

@Suite("A file watch", .tags(.libuv))
struct FileWatchTests {
    /// Collects events and lets a test wait for one that it describes.
    final class Log: Sendable {
        private let events = Mutex<[FileEvent]>([])
        private let arrived = Events()

        func take(_ outcome: FileWatch.Outcome) {
            guard case .success(let event) = outcome else { return }
            events.withLock { $0.append(event) }
            arrived.report()
        }

        func wait(for kinds: FileEvent.Kinds, name: String?) {
            while !events.withLock({ $0.contains { $0.kinds == kinds && $0.name == name } }) {
                arrived.wait()
            }
        }
    }

    /// Collects all that is told.
    final class Outcomes: Sendable {
        private let outcomes = Mutex<[FileWatch.Outcome]>([])
        private let arrived = Events()

        var all: [FileWatch.Outcome] { outcomes.withLock { $0 } }

        func take(_ outcome: FileWatch.Outcome) {
            outcomes.withLock { $0.append(outcome) }
            arrived.report()
        }

        /// Blocks until more outcomes were told.
        func wait(for count: Int) { arrived.wait(for: count) }
    }

    @Test("of a directory tells of a file that is created, changed, renamed and removed, by name")
    func directory() async throws {
        let folder = try TemporaryFolder("qos-file-watch")
        try await withRunningLoop { loop in
            let log = Log()
            let watch = try await loop.perform { () throws(EventLoopError) in
                try loop.watchFile(folder.path) { log.take($0) }
            }
            try folder.write("a")
            log.wait(for: .rename, name: "a")
            try folder.write("a", "text")
            log.wait(for: .change, name: "a")
            unsafe rename(folder["a"], folder["b"])
            log.wait(for: .rename, name: "b")
            unsafe unlink(folder["b"])
            watch.close()
        }
    }

    @Test("of a file tells of its change and of its end")
    func file() async throws {
        let folder = try TemporaryFolder("qos-file-watch")
        try folder.write("a")
        try await withRunningLoop { loop in
            let log = Log()
            let watch = try await loop.perform { () throws(EventLoopError) in
                try loop.watchFile(folder["a"]) { log.take($0) }
            }
            try folder.write("a", "text")
            log.wait(for: .change, name: "a")
            unsafe unlink(folder["a"])
            log.wait(for: .rename, name: "a")
            #expect(watch.path == folder["a"])
        }
    }

    @Test("of a file goes on with another one that is renamed to its path, and fails when the path is free")
    func replacedFile() async throws {
        let folder = try TemporaryFolder("qos-file-watch")
        try folder.write("a")
        try await withRunningLoop { loop in
            let (outcomes, log) = (Outcomes(), Log())
            // The second watch tells when the loop has come to what follows.
            let (watch, other) = try await loop.perform { () throws(EventLoopError) in
                (
                    try loop.watchFile(folder["a"]) { outcomes.take($0) },
                    try loop.watchFile(folder.path) { log.take($0) }
                )
            }
            // A file that is open does not end with its name.
            let held = unsafe open(folder["a"], O_RDONLY | O_CLOEXEC)
            for number in 1...3 {
                try folder.write("b", "\(number)")
                unsafe rename(folder["b"], folder["a"])
                outcomes.wait(for: 1)
            }
            close(held)
            unsafe unlink(folder["a"])
            outcomes.wait(for: 2)
            try folder.write("a", "after the failure")
            try folder.write("last")
            log.wait(for: .rename, name: "last")
            let told = outcomes.all
            #expect(told.count == 5, "nothing comes after the failure")
            let replaced: FileEvent.Kinds = [.rename, .change]
            #expect(told.compactMap { try? $0.get().kinds } == [replaced, replaced, replaced, .rename])
            #expect(throws: EventLoopError.self) { try told.last?.get() }
            watch.close()
            other.close()
        }
    }

    @Test("two watches of one path are both told, and the second goes on when the first is closed by its handler")
    func twice() async throws {
        let folder = try TemporaryFolder("qos-file-watch")
        try await withRunningLoop { loop in
            let log = Log()
            let calls = Atomic(0)
            let first = Mutex<FileWatch?>(nil)
            let second = try await loop.perform { () throws(EventLoopError) in
                let watch = try loop.watchFile(folder.path) { _ in
                    calls.add(1, ordering: .relaxed)
                    first.withLock { $0 }?.close()
                }
                first.withLock { $0 = watch }
                return try loop.watchFile(folder.path) { log.take($0) }
            }
            try folder.write("a", "text")
            log.wait(for: .rename, name: "a")
            log.wait(for: .change, name: "a")
            #expect(calls.load(ordering: .relaxed) == 1)
            second.close()
        }
    }

    @Test("a missing path and one with a NUL character are refused with what to do")
    func refuses() async throws {
        try await withRunningLoop { loop in
            let errors = try await loop.perform { () throws(EventLoopError) in
                ["/does/not/exist", "/tmp\0/x"].map { path in
                    do throws(EventLoopError) {
                        _ = try loop.watchFile(path) { _ in }
                        return nil as EventLoopError?
                    } catch {
                        return error
                    }
                }
            }
            #expect(errors.map(\.?.code) == [.notFound, .invalidArgument])
            #expect(errors.first??.call == "uv_fs_event_start")
        }
    }

    @Test(
        "an exhausted limit of the kernel names the setting to raise",
        arguments: [("ENOSPC", -28, "fs.inotify.max_user_watches"), ("EMFILE", -24, "fs.inotify.max_user_instances")]
            as [(String, Int32, String)])
    func limit(name: String, number: Int32, setting: String) async throws {
        let folder = try TemporaryFolder("qos-file-watch")
        let fault: LoopCall.Fault = { $0 == .fileEventStart ? number : 0 }
        try await withRunningLoop(fault: fault) { loop in
            let error = await #expect(throws: EventLoopError.self) {
                _ = try await loop.perform { () throws(EventLoopError) in try loop.watchFile(folder.path) { _ in } }
            }
            #expect(error?.code == .limitReached)
            #expect(error?.name == name)
            #expect(error?.remedy.contains(setting) == true)
        }
    }

    @Test("a name that is not UTF-8 keeps its bytes, a missing one is nil, a failure is an error")
    func translates() throws {
        let bytes: [CChar] = [0x63, -0x17, 0]
        let named = try unsafe bytes.withUnsafeBufferPointer { name in
            unsafe try FileWatch.outcome(name: name.baseAddress, events: 2, status: 0).get()
        }
        #expect(named.nameBytes == [0x63, 0xe9])
        #expect(named.name == "c\u{fffd}")
        #expect(named.kinds == .change)
        #expect(try unsafe FileWatch.outcome(name: nil, events: 1, status: 0).get().name == nil)
        #expect(throws: EventLoopError.self) { try unsafe FileWatch.outcome(name: nil, events: 0, status: -5).get() }
    }
}
