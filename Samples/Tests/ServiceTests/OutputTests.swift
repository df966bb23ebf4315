import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite("What the service writes", .serialized)
struct OutputTests {
    @Test(
        "the service goes on when nobody takes what it writes",
        arguments: [
            #"exec "$@" 2>/dev/full"#, #"exec "$@" 2>&-"#, #"exec "$@" 2> >(exit)"#, #"exec "$@" >/dev/full"#,
            #"exec "$@" >&- 2>&- <&-"#, #"exec "$@" > >(head -c 1 >/dev/null) 2>&1"#,
        ]
    )
    func survives(shell: String) throws {
        let world = try IndexWorld()
        try world.folder.write("a.txt", "alpha")
        let path = world.state["socket"]
        let arguments = [
            world.folder.path, "--index-dir", world.directory, "--socket", path, "--rescan-interval", "1",
            "--log-level", "info",
        ]
        let service = try ServiceProcess(arguments, errors: world.state["errors"], shell: shell)
        func ask(_ path: String) throws -> HTTPAnswer {
            while true {
                guard service.isRunning else { throw ServiceProcess.Failure(message: "it ended: \(service.wait())") }
                guard let socket = LoopbackSocket(path: world.state["socket"]) else {
                    sched_yield()
                    continue
                }
                return try HTTPAnswer(socket, request: "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            }
        }
        // Until the second pass is over: the progress lines of the first were written by then.
        while try ask("/status").decode(StatusAnswer.self).complete == false {}
        // A file as fresh as this one is read again by the next pass, and counts as pending meanwhile.
        while try !ask("/metrics").text.contains("qos_service_index_files{state=\"indexed\"} 1") {}
        var lines = 0
        while lines < 20 {
            #expect(try ask("/search?q=alpha").status == 200)
            lines += 1
        }
        service.send(SIGTERM)
        let ending = service.wait()
        #expect((ending.status, ending.wasKilled) == (0, false))
        let database = try String(
            decoding: Data(contentsOf: URL(fileURLWithPath: world.database)).prefix(15), as: UTF8.self)
        #expect(database == "SQLite format 3", "no progress was written into the database")
    }
}
