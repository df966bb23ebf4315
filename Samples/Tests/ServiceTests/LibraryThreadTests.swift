import Foundation
import Glibc
import SampleTestSupport
import Testing

/// What the threads have that NIO, Hummingbird, Dispatch and GRDB make in the running service.
@Suite("Libraries' threads in the service", .serialized)
struct LibraryThreadTests {
    private let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    /// A thread of the service, as `/proc` shows it.
    private struct ThreadLook {
        let name: String
        let isMain: Bool
        /// Processors and policy.
        let scheduling: String
        let nice: Int

        init?(of thread: String, in process: Int32) {
            let folder = "/proc/\(process)/task/\(thread)"
            guard let name = try? String(contentsOfFile: "\(folder)/comm", encoding: .utf8),
                let status = try? String(contentsOfFile: "\(folder)/status", encoding: .utf8),
                let stat = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8),
                let processors = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") })
            else { return nil }
            // After the name, in parentheses, comes the third field. Nice is the 19th, the policy the 41st.
            let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
            guard fields.count > 39 else { return nil }
            self.name = name.trimmingCharacters(in: .newlines)
            isMain = thread == "\(process)"
            guard let nice = Int(fields[17]) else { return nil }
            self.nice = nice
            scheduling = "\(processors) policy \(fields[39])"
        }

        /// Whether the runtime made it for itself.
        var isOfRuntime: Bool { !isMain && name.wholeMatch(of: /qos-(?!service).*/) != nil }
    }

    private func threads(of service: ServiceProcess) throws -> [ThreadLook] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(service.identifier)/task")
            .compactMap { ThreadLook(of: $0, in: service.identifier) }
    }

    @Test(
        "of NIO, Hummingbird, Dispatch and GRDB have all processors, and the nice value and policy of the service's start",
        arguments: [
            ("exec \"$@\"", geteuid() == 0),
            ("exec setpriv --inh-caps=-sys_nice --bounding-set=-sys_nice \"$@\"", false),
        ])
    func haveTheStartsScheduling(shell: String, mayRaise: Bool) throws {
        for number in 0..<40 { try world.folder.write("docs/\(number).md", "# Number \(number)\nThe quick brown fox") }
        let service = try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"], errors: world.state["errors"],
            shell: shell)
        try service.waitUntilListening()
        try service.status { $0.complete && $0.state == "idle" }
        for _ in 0..<20 { #expect(try service.get("/search?q=quick&limit=5").status == 200) }
        let all = try threads(of: service)
        let first = all.first { $0.isMain }
        let main = try #require(first)
        let others = all.filter { !$0.isOfRuntime && !$0.isMain }
        #expect(others.contains { $0.name.hasPrefix("NIO-") }, "\(all)")
        for other in others {
            #expect(other.scheduling == main.scheduling, "\(other.name)")
            // Where it may, Dispatch raises threads itself: by 2 for queues above default, by 4 for its event loop.
            let isOfDispatch = other.name.hasSuffix("qos") || other.name.hasSuffix("qos.overcommit")
            let raises = mayRaise && isOfDispatch ? [0, 2, 4] : [0]
            #expect(raises.contains(main.nice - other.nice), "\(other.name) has nice \(other.nice)")
        }
        // Without this, nothing would be shown: the service has threads that a library must not inherit from.
        #expect(all.contains { $0.isOfRuntime && ($0.scheduling, $0.nice) != (main.scheduling, main.nice) })
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }
}
