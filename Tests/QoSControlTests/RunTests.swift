import Foundation
import Glibc
import QoSCore
import Testing

@Suite("qosctl run")
struct RunTests {
    /// The class as the command line names it, and what the kernel then says of the program (sched(7), proc(5)).
    @Test(
        "the program has the effects of the class, and so has what it starts",
        arguments: [
            ("background", "19", "idle"), ("utility", "10", "best-effort: prio 6"),
            ("default", nil, "best-effort: prio 4"),
        ] as [(String, String?, String)])
    func effects(qosClass: String, nice: String?, io: String) throws {
        let script = "run --quiet --qos \(qosClass) -- sh -c 'nice; ionice; cat /proc/self/timerslack_ns; chrt -p $$'"
        let run = try ToolRun.run(script, reading: \.standardOutput)
        #expect(run.status == 0)
        let lines = run.text.split(separator: "\n").map(String.init)
        try #require(lines.count >= 3, "\(run.text)")
        let isIdle = run.text.contains("SCHED_IDLE")
        // IDLE has no nice value. Without privileges, background is BATCH at 19.
        if let nice, !isIdle { #expect(lines[0] == nice, "\(run.text)") }
        #expect(lines[1] == io, "\(run.text)")
        if qosClass == "background" {
            #expect(lines[2] == "75000000" && (isIdle || run.text.contains("SCHED_BATCH")), "\(run.text)")
        }
    }

    @Test("the program's status is the command's; one that is not there is 127, one that cannot run is 126")
    func status() throws {
        #expect(try ToolRun.run("run --qos utility -- sh -c 'exit 7'", reading: \.standardOutput).status == 7)
        let missing = try ToolRun.run(
            "run --quiet --qos utility -- no-such-program", reading: \.standardError,
            // A folder of the path that the user may not search would make it 126, as with env(1).
            with: ["PATH": "/usr/bin:/bin"])
        #expect(missing.status == 127 && missing.text.contains("no-such-program"), "\(missing)")
        let folder = try ToolRun.run("run --quiet --qos utility -- /tmp", reading: \.standardError)
        #expect(folder.status == 126 && folder.text.contains("/tmp"), "\(folder)")
    }

    @Test("a class that does not exist, and a command without a program, are refused with what to do")
    func badArguments() throws {
        let unknown = try ToolRun.run("run --qos urgent -- true", reading: \.standardError)
        #expect(unknown.status == 64 && unknown.text.contains("user-interactive"), "\(unknown)")
        let empty = try ToolRun.run("run --qos background", reading: \.standardError)
        #expect(empty.status == 64 && empty.text.contains("after --"), "\(empty)")
    }

    @Test("signals that are not ignored reach the program, and arguments are passed on as they are")
    func child() throws {
        let text = try ToolRun.run(
            "run --quiet --qos user-initiated -- sh -c 'echo \"$1\"; grep SigBlk /proc/self/status' sh '--qos  *'",
            reading: \.standardOutput
        ).text
        #expect(text.hasPrefix("--qos  *\n"), "\(text)")
        #expect(text.contains("SigBlk:\t0000000000000000"), "\(text)")
    }
}
