import Glibc
import QoSEventLoop
import Synchronization
import Testing

@Suite("A descriptor watch", .tags(.libuv))
struct DescriptorWatchTests {
    @Test("tells that a pipe can be read, and again for the next byte")
    func reads() async throws {
        let pipe = TestPipe()
        let arrived = Events()
        try await withRunningLoop { loop in
            let watch = try await loop.perform { () throws(EventLoopError) in
                try loop.watchDescriptor(pipe.reader, for: .readable) { outcome in
                    pipe.read()
                    if outcome == .success(.readable) {
                        arrived.report()
                    }
                }
            }
            for _ in 0..<3 {
                pipe.write()
                arrived.wait()
            }
            watch.close()
        }
    }

    @Test("tells that a pipe can be written, until it is told to stop")
    func writes() async throws {
        let pipe = TestPipe()
        let arrived = Events()
        let watch = Mutex<DescriptorWatch?>(nil)
        try await withRunningLoop { loop in
            try await loop.perform { () throws(EventLoopError) in
                let made = try loop.watchDescriptor(pipe.writer, for: .writable) { outcome in
                    arrived.report()
                    // A closed watch takes no update, and says nothing.
                    let watch = watch.withLock { $0 }
                    watch?.close()
                    try? watch?.update(.writable)
                }
                watch.withLock { $0 = made }
            }
            arrived.wait()
        }
        watch.withLock { $0 = nil }
    }

    @Test("an empty set of events pauses the watch, another one continues it")
    func updates() async throws {
        let pipe = TestPipe()
        let calls = Atomic(0)
        let arrived = Events()
        try await withRunningLoop { loop in
            let watch = try await loop.perform { () throws(EventLoopError) in
                let watch = try loop.watchDescriptor(pipe.reader, for: .readable) { _ in
                    calls.add(1, ordering: .relaxed)
                    pipe.read()
                    arrived.report()
                }
                try watch.update([])
                return watch
            }
            pipe.write()
            try await loop.perform {}
            try await loop.perform {}
            #expect(calls.load(ordering: .relaxed) == 0)
            try await loop.perform { () throws(EventLoopError) in try watch.update([.readable, .disconnected]) }
            arrived.wait()
            let error = #expect(throws: EventLoopError.self) { try watch.update([]) }
            #expect(error?.code == .notOnLoopThread)
        }
    }

    @Test("tells of a descriptor in an error state: a pipe whose reader is gone")
    func fails() async throws {
        let outcome = Mutex<DescriptorWatch.Outcome?>(nil)
        let arrived = Events()
        let pipe = TestPipe()
        pipe.closeReader()
        try await withRunningLoop { loop in
            let watch = try await loop.perform { () throws(EventLoopError) in
                try loop.watchDescriptor(pipe.writer, for: .writable) { told in
                    outcome.withLock { $0 = told }
                    arrived.report()
                }
            }
            arrived.wait()
            watch.close()
        }
        let error = #expect(throws: EventLoopError.self) { _ = try outcome.withLock { try $0?.get() } }
        #expect(error?.code == .other)
        #expect(error?.description.contains("reader of a pipe is gone") == true)
    }

    @Test("a regular file, a closed descriptor and one that is watched already are refused with what to do")
    func refuses() async throws {
        let pipe = TestPipe()
        let regular = unsafe open(#filePath, O_RDONLY | O_CLOEXEC)
        defer { close(regular) }
        try await withRunningLoop { loop in
            let codes = try await loop.perform { () throws(EventLoopError) in
                let watch = try loop.watchDescriptor(pipe.reader, for: .readable) { _ in }
                defer { watch.close() }
                return [regular, -1, pipe.reader].map { descriptor in
                    do throws(EventLoopError) {
                        _ = try loop.watchDescriptor(descriptor, for: .readable) { _ in }
                        return nil as EventLoopError.Code?
                    } catch {
                        return error.code
                    }
                }
            }
            #expect(codes == [.notPermitted, .invalidArgument, .alreadyWatched])
        }
    }
}
