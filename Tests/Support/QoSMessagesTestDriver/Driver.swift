import Glibc
import QoSKernel
package import QoSMessages
package import QoSRuntime

// Services and clients as processes of their own.
//
//   serve PATH [STEP]      a service; with a step, the process kills itself there
//   relay PATH NEXT        a service that forwards `WaitForRaise` to the service at NEXT
//   client PATH BYTES      sends a request for as many bytes, and prints how it ended
//   hang PATH              sends a request that never ends, and prints `sent`
//   clamped PATH           a service that is clamped while nobody needs it; prints at its end whether it is
//   important PATH         a client that holds importance for ever, and prints `holds` when the service has seen it
//   child KIND             a service that its parent has started: `serve`, `clamped`, `stubborn` for one that ignores its
//                          end, `exit` for a program that ends before it serves
//   parent KIND            a process with a child: `once` prints what is left after its end, `hold` waits for ever, `clean`
//                          prints what a child has that background work starts

/// Asks for the level of the handler and the text.
package struct Echo: ServiceRequest {
    package struct Reply: Codable, Sendable, Equatable {
        package var text: String
        package var level: UInt8
        package var deadlineIsSet: Bool
        package var pid: Int32
    }

    package var text: String
    package init(text: String) { self.text = text }
}

/// Asks for bytes.
package struct Bytes: ServiceRequest {
    package typealias Reply = [UInt8]
    package var count: Int
    package init(count: Int) { self.count = count }
}

/// Ends when the handler's task has been raised to userInitiated, with the levels at its begin and end.
package struct WaitForRaise: ServiceRequest {
    package typealias Reply = [UInt8]
    package init() {}
}

/// Never ends by itself.
package struct Hang: ServiceRequest {
    package typealias Reply = Bool
    package init() {}
}

/// Throws an error with a code.
package struct Fail: ServiceRequest {
    package typealias Reply = Bool
    package var code: Int32
    package init(code: Int32) { self.code = code }
}

/// Sent by a handler to its client when it has begun.
package struct HasBegun: ServiceMessage {
    package var level: UInt8
    package init(level: UInt8) { self.level = level }
}

/// Asks a clamped service for its importance, and for the thread that runs its utility work.
package struct ClampState: ServiceRequest {
    package struct Reply: Codable, Sendable, Equatable {
        package var isClamped: Bool
        package var requests: Int
        package var scopes: Int
        package var worker: String
    }

    package init() {}
}

/// Kills the service's process.
package struct Crash: ServiceRequest {
    package typealias Reply = Bool
    package init() {}
}

/// Asks for what the service's process had at its begin.
package struct Begin: ServiceRequest {
    package typealias Reply = ProcessFacts
    package init() {}
}

/// What a process has by inheritance: its scheduling and signals are those of its main thread.
package struct ProcessFacts: Codable, Sendable, Equatable {
    package var nice: String
    package var policy: String
    package var processors: String
    package var blocked: String
    package var ignored: String
    /// The numbers below 256 that are open.
    package var descriptors: [Int32]

    package init() {
        let status = (try? KernelFile.read("/proc/self/status")) ?? ""
        let stat = (try? KernelFile.read("/proc/self/stat")) ?? ""
        // The fields from the third one on (proc(5)).
        let fields = (stat.split(separator: ")").last ?? "").split(separator: " ").map(String.init)
        func line(_ name: String) -> String {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
            return line.split(whereSeparator: \.isWhitespace).dropFirst().joined(separator: " ")
        }
        (nice, policy) = fields.count > 38 ? (fields[16], fields[38]) : ("", "")
        processors = line("Cpus_allowed_list")
        blocked = line("SigBlk")
        ignored = line("SigIgn")
        descriptors = (0..<256).filter { fcntl($0, F_GETFD) >= 0 }
    }
}

package struct Note: ServiceMessage {
    package var text: String
    package init(text: String) { self.text = text }
}

/// Ends for one task: opened once, awaited once.
package final class OneShot: Sendable {
    private let state = Lock<(isOpen: Bool, task: CheckedContinuation<Void, Never>?)>((false, nil))

    package init() {}

    package func open() {
        let task = state.withLock { state in
            state.isOpen = true
            return state.task.take()
        }
        task?.resume()
    }

    package func passed() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.task = continuation }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

package func currentRaw() -> UInt8 { QoS.currentLevel?.qosClass.rawValue ?? 0 }

/// Suspends until the calling task is at userInitiated.
package func waitUntilRaised() async {
    let gate = OneShot()
    await withTaskPriorityEscalationHandler {
        if currentRaw() >= QoSClass.userInitiated.rawValue { gate.open() }
        await gate.passed()
    } onPriorityEscalated: { _, priority in
        if priority >= .high { gate.open() }
    }
}

/// The service of the tests.
package func makeService(_ name: String, allow: ServiceAccess = .sameUser, on scheduler: QoSScheduler?) -> Service {
    let service = Service(name, allow: allow, on: scheduler)
    service.on(Echo.self) { request, call in
        Echo.Reply(text: request.text, level: currentRaw(), deadlineIsSet: call.deadline != nil, pid: getpid())
    }
    service.on(Bytes.self) { request, _ in [UInt8](repeating: 7, count: request.count) }
    service.on(WaitForRaise.self) { _, call in
        let before = currentRaw()
        try await call.session.send(HasBegun(level: before))
        await waitUntilRaised()
        return [before, currentRaw()]
    }
    service.on(Hang.self) { _, call in
        try? await call.session.send(HasBegun(level: currentRaw()))
        let gate = OneShot()
        await withTaskCancellationHandler {
            await gate.passed()
        } onCancel: {
            gate.open()
        }
        say("cancelled", true)
        throw CancellationError()
    }
    service.on(Fail.self) { request, _ in throw ServiceFailure(code: request.code, "as asked") }
    service.on(Note.self) { note, _ in say("note", note.text) }
    service.on(Crash.self) { _, _ in kill(getpid(), SIGKILL) == 0 }
    service.on(Begin.self) { _, _ in Driver.begin }
    return service
}

/// A service that clamps its scheduler, and answers `ClampState`.
package func makeClampedService(_ name: String, on scheduler: QoSScheduler) -> Service {
    let service = Service(name, clampsWithoutImportance: true, on: scheduler)
    service.on(ClampState.self) { [weak service] _, _ in
        let importance = service?.importance
        let worker = await utilityWorker(of: scheduler)
        return ClampState.Reply(
            isClamped: importance?.isClamped ?? false,
            requests: importance?.holders.map(\.requests).reduce(0, +) ?? 0,
            scopes: importance?.holders.map(\.scopes).reduce(0, +) ?? 0, worker: worker)
    }
    return service
}

/// Returns the name of the thread that runs a task of a scheduler at utility.
package func utilityWorker(of scheduler: QoSScheduler) async -> String {
    await withCheckedContinuation { continuation in
        // Not awaited as a task: that would raise it.
        scheduler.startDetachedTask(at: .utility) { continuation.resume(returning: threadName()) }
    }
}

/// The name of the calling thread (proc(5)).
package func threadName() -> String {
    let descriptor = unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "unknown" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

package func say(_ name: String, _ value: some Any) {
    print("\(name)=\(value)")
    fflush(nil)
}

@main
struct Driver {
    /// What this process had when it began.
    fileprivate static let begin = ProcessFacts()

    static func main() {
        _ = begin
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else { exit(64) }
        QoSProcess.run {
            switch arguments[1] {
            case "serve":
                if arguments.count > 3 {
                    ServiceSteps.watch { if $0.rawValue == arguments[3] { kill(getpid(), SIGKILL) } }
                }
                let service = makeService(arguments[2], on: QoSProcess.scheduler)
                try await service.run { say("listening", true) }
                say("connections", service.connectionCount)
            case "clamped":
                guard let scheduler = QoSProcess.scheduler else { exit(70) }
                let service = makeClampedService(arguments[2], on: scheduler)
                try await service.run { say("listening", true) }
                say("clamped", service.importance.isClamped)
            case "important": try await important(arguments[2])
            case "relay": try await relay(arguments[2], to: arguments[3])
            case "child": try await child(arguments[2])
            case "parent": await parent(arguments[2])
            case "client": await client(arguments[2], Int(arguments[3]) ?? 0)
            default: await hang(arguments[2])
            }
        }
    }

    private static func relay(_ path: String, to next: String) async throws {
        let service = Service(path)
        service.on(WaitForRaise.self) { request, call in
            var handlers = ServiceHandlers()
            handlers.on(HasBegun.self) { message, _ in try await call.session.send(message) }
            let session = try await ServiceSession(to: next, handlers: handlers)
            let before = currentRaw()
            return [before] + (try await session.send(request)) + [currentRaw()]
        }
        try await service.run { say("listening", true) }
    }

    private static func child(_ kind: String) async throws {
        if kind == "exit" { exit(3) }
        guard let scheduler = QoSProcess.scheduler else { exit(70) }
        if kind == "clamped" { return try await makeClampedService("org.example.child", on: scheduler).run() }
        try await makeService("org.example.child", on: scheduler).run()
        if kind == "stubborn" { await OneShot().passed() }
    }

    /// Starts a child from a worker of background, which has a descriptor and a signal to pass on.
    private static func cleanChild() async {
        say("descriptor", unsafe open("/dev/null", O_RDONLY))
        _ = signal(SIGUSR2, SIG_IGN)
        let child = ChildService("/proc/self/exe", ["child", "serve"])
        let begin: ProcessFacts? = await withCheckedContinuation { continuation in
            // Not awaited as a task: that would raise it.
            QoSProcess.scheduler?.startDetachedTask(at: .background) {
                say("maker", threadName())
                continuation.resume(returning: try? await child.send(Begin()))
            }
        }
        for (name, facts) in [("own", Driver.begin), ("child", begin ?? Driver.begin)] {
            say("\(name)-scheduling", "\(facts.nice) \(facts.policy) \(facts.processors)")
        }
        say("own-ignored", ProcessFacts().ignored)
        say("child-ignored", begin?.ignored ?? "unknown")
        say("child-blocked", begin?.blocked ?? "unknown")
        say("child-descriptors", begin?.descriptors ?? [])
        await child.terminate()
    }

    private static func parent(_ kind: String) async {
        if kind == "clean" { return await cleanChild() }
        let before = (sockets, processDescriptors)
        let child = ChildService("/proc/self/exe", ["child", "serve"])
        do throws(ServiceError) {
            say("child", try await child.send(Echo(text: "x")).pid)
            if kind == "hold" { await OneShot().passed() }
            do throws(ServiceError) { _ = try await child.send(Crash()) } catch { say("crash", error.reason) }
            say("second", try await child.send(Echo(text: "x")).pid)
            await child.terminate()
        } catch {
            say("error", error)
        }
        // The descriptors are closed on the loop's thread, a moment later.
        var looks = 0
        while (sockets, processDescriptors) != before, looks < 10_000 {
            looks += 1
            sched_yield()
        }
        say("leaked", sockets - before.0 + processDescriptors - before.1)
        say("children", waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD ? "none" : "some")
    }

    /// The number of open descriptors of processes.
    private static var processDescriptors: Int {
        (0..<256).count { descriptor in
            var bytes = [CChar](repeating: 0, count: 64)
            let count = unsafe readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
            let target = bytes.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
            return String(decoding: target, as: UTF8.self).contains("pidfd")
        }
    }

    /// The number of open sockets. The runtime opens other descriptors at its own times.
    private static var sockets: Int {
        (0..<256).count { descriptor in
            var status = stat()
            return unsafe fstat(Int32(descriptor), &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    }

    private static func client(_ path: String, _ count: Int) async {
        let before = sockets
        var open = "none"
        do throws(ServiceError) {
            let session = try await ServiceSession(to: path)
            say("connected", session.peer.pid)
            do throws(ServiceError) {
                say("bytes", try await session.send(Bytes(count: count)).count)
            } catch {
                say("error", error.reason)
                say("begun", error.mayHaveBegun)
            }
            open = "\(session.open)"
        } catch {
            say("error", error.reason)
            say("begun", error.mayHaveBegun)
        }
        say("open", open)
        // The descriptor is closed on the loop's thread, a moment later.
        for _ in 0..<10_000 where sockets != before { sched_yield() }
        say("leaked", sockets - before)
    }

    private static func important(_ path: String) async throws {
        let session = try await ServiceSession(to: path)
        try await session.withImportance {
            _ = try await session.send(ClampState())
            say("holds", true)
            await OneShot().passed()
        }
    }

    private static func hang(_ path: String) async {
        var handlers = ServiceHandlers()
        handlers.on(HasBegun.self) { _, _ in say("sent", true) }
        do throws(ServiceError) {
            let session = try await ServiceSession(to: path, handlers: handlers)
            _ = try await session.send(Hang())
        } catch {
            say("error", error.reason)
        }
    }
}
