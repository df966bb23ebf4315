import Glibc
import QoSFileTestSupport
import Synchronization
import Testing

@testable import QoSEventLoop

@Suite("A failing call", .tags(.libuv))
struct LoopFaultTests {
    static let failures: [(LoopCall, Int32)] = LoopCall.allCases.flatMap { call in
        [-EMFILE, -ENOMEM, -EPERM].map { (call, $0) }
    }

    /// Makes a loop, makes every kind of watch, and closes all of it.
    static func useEverything(fault: @escaping LoopCall.Fault) async throws {
        let folder = try TemporaryFolder("qos-loop-fault")
        let (pipe, input) = (TestPipe(), TestPipe())
        try await withRunningLoop(fault: fault) { loop in
            let exited = Events()
            let child = try await loop.perform { () throws(EventLoopError) in
                let signal = try loop.watchSignal(SIGURG) {}
                let file = try loop.watchFile(folder.path) { _ in }
                let descriptor = try loop.watchDescriptor(pipe.reader, for: .readable) { _ in }
                let copy = try loop.watchCopy(of: pipe.reader, for: .readable) { _ in }
                let child = try loop.spawn(ChildCommand("cat", standardInput: .descriptor(input.reader))) { _ in
                    exited.report()
                }
                withExtendedLifetime((signal, file, descriptor, copy)) {}
                return child
            }
            // Waited for, so that no zombie is left to the test process.
            defer {
                input.closeWriter()
                exited.wait()
            }
            try await loop.perform { () throws(EventLoopError) in try child.send(signal: 0) }
        }
    }

    @Test("is an error that names call, number and remedy, and gives back what was made before it", arguments: failures)
    func everyCall(call: LoopCall, number: Int32) async throws {
        let error = await #expect(throws: EventLoopError.self) {
            try await Self.useEverything { $0 == call ? number : 0 }
        }
        #expect(error?.call == call.rawValue)
        #expect(error?.name == [-EMFILE: "EMFILE", -ENOMEM: "ENOMEM", -EPERM: "EPERM"][number])
        #expect(error?.remedy.isEmpty == false)
    }

    @Test("leaves no descriptor behind, and neither does a loop that works")
    func leaksNoDescriptor() async throws {
        // In a process of its own, because other tests open descriptors too.
        await #expect(processExitsWith: .success) {
            func useAll() async {
                for (call, number) in LoopFaultTests.failures {
                    try? await LoopFaultTests.useEverything { $0 == call ? number : 0 }
                }
                try? await LoopFaultTests.useEverything { _ in 0 }
            }
            func openDescriptors() -> Int {
                (0..<1024).count { fcntl($0, F_GETFD) >= 0 }
            }
            // libuv keeps a pipe for signals from its first use on.
            await useAll()
            let before = openDescriptors()
            await useAll()
            #expect(openDescriptors() == before)
        }
    }

    @Test("is reported by making a loop in a process that may open no more descriptors, or too few", arguments: 0..<5)
    func noDescriptors(_ left: Int) async throws {
        await #expect(processExitsWith: .exitCode(7)) { [left] in
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let free = dup(0)
            var lowered = rlimit(rlim_cur: rlim_t(free) + rlim_t(left), rlim_max: limit.rlim_max)
            close(free)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &lowered)
            var status: Int32 = 8
            do throws(EventLoopError) {
                _ = try EventLoop(onWake: {})
            } catch {
                status = error.code == .limitReached && error.remedy.contains("ulimit -n") ? 7 : 9
            }
            // What runs at exit may need descriptors.
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            exit(status)
        }
    }

    @Test(
        "is told apart by kind",
        arguments: [
            (.loopInit, -EMFILE, .limitReached), (.loopInit, -ENFILE, .limitReached), (.spawn, -EAGAIN, .limitReached),
            (.fileEventStart, -ENOSPC, .limitReached), (.eventCreate, -ENOMEM, .limitReached),
            (.fileEventStart, -ENOENT, .notFound), (.fileEventStart, -ENOTDIR, .notFound), (.spawn, -ENOENT, .notFound),
            (.processKill, -ESRCH, .notFound), (.spawn, -EACCES, .notPermitted), (.processKill, -EPERM, .notPermitted),
            (.pollInit, -EPERM, .notPermitted), (.pollInit, -EEXIST, .alreadyWatched),
            (.pollInit, -EBADF, .invalidArgument),
            (.signalStart, -EINVAL, .invalidArgument), (.spawn, -EINVAL, .invalidArgument),
            (.loopClose, -EBUSY, .other),
            (.spawn, -EIO, .other),
        ] as [(LoopCall, Int32, EventLoopError.Code)])
    func mapping(call: LoopCall, status: Int32, code: EventLoopError.Code) {
        let error = EventLoopError(call, status: status)
        #expect(error.code == code)
        #expect(error.description.hasPrefix("\(call.rawValue) failed (\(error.name ?? "")): "))
        #expect(error.description.hasSuffix(error.remedy))
    }
}
