internal import Hummingbird
internal import NIOCore

/// The context of a request's handlers: the connection of the request.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// Whether the client has shown the token: it may see everything, and change workloads.
    var mayAct = false

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
