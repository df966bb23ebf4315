internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// Gives each HTTP/1.0 request a `Connection: close`, so that the server closes the connection behind its answer.
///
/// An HTTP/1.0 client takes the end of the connection for the end of the answer (RFC 9112, 9.3). The server's own types
/// have no version, so this handler stands before the codec that makes them.
final class OldProtocol: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Puts a handler before the codec of a pipeline, if it has one.
    static func add(to pipeline: ChannelPipeline) {
        let operations = pipeline.syncOperations
        guard let codec = try? operations.handler(type: HTTP1ToHTTPServerCodec.self) else { return }
        try? operations.addHandler(OldProtocol(), position: .before(codec))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version == .http1_0 else {
            context.fireChannelRead(data)
            return
        }
        head.headers.replaceOrAdd(name: "connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

@available(*, unavailable)
extension OldProtocol: Sendable {}
