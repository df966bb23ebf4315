import Glibc
import QoSProcessTestSupport
import Testing

@Suite("The whole process on the runtime", .tags(.process), .timeLimit(.minutes(5)))
struct QoSProcessTests {
    private func run(_ arguments: String...) async throws -> DriverProcess.Ending {
        let process =
            arguments.count > 1 ? try DriverProcess(arguments[0], arguments[1]) : try DriverProcess(arguments[0])
        return await process.ending()
    }

    @Test("the main actor is the main thread, at first, after a wait, and in tasks; the body is not")
    func mainActor() async throws {
        let ending = try await run("main-actor")
        #expect(ending.status == 0)
        #expect(
            ending.findings == [
                "first": "true", "second": "true", "isolated": "true", "task": "true", "body": "false",
            ])
    }

    @Test("a body on the main actor is isolated from its first line on, and ends the process as any")
    func bodyOnMainActor() async throws {
        let ending = try await run("body-on-main-actor")
        #expect(ending.status == 3)
        #expect(
            ending.findings == ["first": "true", "after-sleep": "true", "detached": "false", "count": "1"])
    }

    @Test(
        "C4 tasks run in the pool of their priority, the body in that of the configured class, actors with their callers"
    )
    func pools() async throws {
        let findings = try await run("pools").findings
        for name in ["ui", "in", "df", "ut", "bg"] {
            #expect(findings[name]?.hasPrefix("qos-\(name)-") == true, "\(findings)")
        }
        for name in ["body", "actor", "child"] {
            #expect(findings[name]?.hasPrefix("qos-in-") == true, "\(findings)")
        }
    }

    @Test("DispatchQueue.main runs its blocks on the main thread")
    func dispatchMain() async throws {
        let ending = try await run("dispatch-main")
        #expect(ending.status == 0)
        #expect(ending.findings == ["main": "true", "blocks": "1000"])
    }

    @Test("the main actor and DispatchQueue.main have one order: that of submission, wherever it comes from")
    func dispatchOrder() async throws {
        let ending = try await run("dispatch-order")
        #expect(ending.status == 0)
        #expect(ending.findings == ["outside": "true", "inside": "true", "nested": "true"], "\(ending)")
    }

    @Test("a block that was submitted before the run does not run before it, and the order holds afterwards")
    func dispatchBeforeRun() async throws {
        let ending = try await run("dispatch-before-run")
        #expect(ending.status == 0)
        #expect(
            ending.findings == ["block": "true", "outside": "true", "inside": "true", "nested": "true"], "\(ending)")
    }

    @Test("timers fire while the main actor is busy")
    func busyMainActor() async throws {
        let ending = try await run("busy-main-actor")
        #expect(ending.findings == ["slept": "true"])
    }

    @Test("a sleep on the main actor is long enough and ends on the main thread")
    func sleepOnMainActor() async throws {
        let ending = try await run("sleep-on-main-actor")
        #expect(ending.findings == ["slept": "true"])
    }

    @Test("thousands of visits to the main actor from all classes exclude one another")
    func manyOnMainActor() async throws {
        let ending = try await run("many-on-main-actor")
        #expect(ending.findings == ["count": "2000"])
    }

    @Test("I4 a call of the main actor that waits behind others goes first when a higher task awaits it")
    func raisedOnMainActor() async throws {
        let ending = try await run("raised-on-main-actor")
        #expect(ending.findings == ["first": "7"])
    }

    @Test("sleeps of tasks of all classes are long enough")
    func libraryClocks() async throws {
        let ending = try await run("library-clocks")
        #expect(ending.findings == ["slept": "true"])
    }

    @Test("another scheduler beside the process's can end; its tasks go on in the pools of the process")
    func otherScheduler() async throws {
        let ending = try await run("other-scheduler")
        let names = ending.findings["names"]?.split(separator: ",") ?? []
        #expect(names.count == 2)
        #expect(names.first == "qos-ut-0")
        #expect(names.last?.hasPrefix("qos-in-") == true, "\(names)")
    }

    @Test(
        "I4 an actor without an executor of its own, whose turn waits in a low class, gets it when something higher calls"
    )
    func busyActor() async throws {
        let ending = try await run("busy-actor")
        #expect(ending.findings == ["calls": "2", "moved": "true", "sees": "true"])
    }

    // MARK: How it ends

    @Test("a body that returns ends the process with 0")
    func returns() async throws {
        let ending = try await run("returns")
        #expect(ending == .init(status: 0, wasKilledBySignal: false, output: "body=ran\n", errors: ""))
    }

    @Test("a body that throws ends it with 1 and the error")
    func throwing() async throws {
        let ending = try await run("throws")
        #expect(
            ending
                == .init(status: 1, wasKilledBySignal: false, output: "", errors: "error: it is broken on purpose\n"))
    }

    @Test("a body that throws a status ends it with that, without a word", arguments: [0, 1, 75, 255])
    func status(_ code: Int32) async throws {
        let ending = try await run("throws-status", "\(code)")
        #expect(ending == .init(status: code, wasKilledBySignal: false, output: "", errors: ""))
    }

    @Test("a body may call exit")
    func exits() async throws {
        let ending = try await run("exits-in-body", "3")
        #expect(ending == .init(status: 3, wasKilledBySignal: false, output: "", errors: ""))
    }

    @Test("what was printed comes out, also without a line's end")
    func flushed() async throws {
        let ending = try await run("prints-without-newline")
        #expect(ending.output == "flushed")
        #expect(ending.status == 0)
    }

    @Test("a second run in the same process is an error that says what to do")
    func twice() async throws {
        let ending = try await run("runs-twice")
        #expect(ending.status == 1)
        #expect(ending.errors.contains("QoSProcess.run was called a second time"))
    }

    @Test("a configuration that makes no sense is an error that says what would")
    func invalidConfiguration() async throws {
        let ending = try await run("invalid-configuration")
        #expect(ending.status == 1)
        #expect(ending.errors.contains("0 processors: use 1 to"))
        #expect(ending.output.isEmpty)
    }

    @Test("the scheduler of the process refuses to be shut down, and says how to end")
    func shutsDown() async throws {
        let ending = try await run("shuts-down")
        #expect(ending.status == 1)
        #expect(ending.errors.contains("return from the body of QoSProcess.run"))
    }

    @Test("a task that was started before runs outside of the pools; what comes after runs in them nevertheless")
    func taskBeforeRun() async throws {
        let ending = try await run("task-before-run")
        #expect(ending.status == 0)
        #expect(ending.findings["early"]?.hasPrefix("qos-") == false, "\(ending)")
        #expect(ending.findings["main"] == "true")
        #expect(ending.findings["body"]?.hasPrefix("qos-in-") == true, "\(ending)")
        #expect(ending.findings["task"]?.hasPrefix("qos-in-") == true, "\(ending)")
    }
}
