import Hummingbird
import QoSWorkloads

extension Digest: ResponseEncodable {}

/// Returns the routes of the service.
func makeRouter(notes: Notes, host: WorkloadHost, scheduler: QoSScheduler) -> Router<BasicRequestContext> {
    let router = Router()
    router.post("/notes") { request, _ -> String in
        let body = try await request.body.collect(upTo: 1 << 20)
        let note = try await notes.add(String(buffer: body))
        // Nobody waits for the digest here, so its item stays at background.
        _ = try await host.submit(Digests.self, .init(note: note), unique: .key("digest:\(note)"))
        return "\(note)\n"
    }
    router.get("/notes/:note") { _, context -> Digest in
        let note = try context.parameters.require("note", as: Int64.self)
        if let digest = try await notes.digest(of: note) { return digest }
        guard try await notes.text(of: note) != nil else { throw HTTPError(.notFound) }
        // The key finds the item of the upload. The wait raises it to the class of this request.
        let item = try await host.submit(Digests.self, .init(note: note), unique: .key("digest:\(note)"))
        let outcome = try await item.outcome
        if let digest = try await notes.digest(of: note) { return digest }
        throw HTTPError(.internalServerError, message: "\(outcome)")
    }
    router.get("/status") { _, _ -> String in "\(scheduler.snapshot)\n" }
    return router
}
