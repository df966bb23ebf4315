internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Watches one connection. It bounds the time of a request, notices that the client has gone, and adds the headers of
/// every answer.
///
/// The framework closes connections that wait too long for a request, or for the rest of its head. This handler closes
/// a connection in these cases:
///
/// - An answer is not written some time after the request's head was read. The live events are no such answer. If the
///   answer is a file, the time begins anew with each piece that was written.
/// - The client closes it, or its sending half, during a request.
/// - The request goes on after its answer.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: Connections
    private let timeLimit: TimeAmount
    private var connection: Connection?
    /// The number of requests whose head was read and whose answer has not ended.
    private var requests = 0
    private var isReading = false
    /// Whether the answer is a file. Each of its pieces has the time of an answer.
    private var isTransfer = false
    private var timer: Scheduled<Void>?

    init(connections: Connections, timeLimit: TimeAmount) {
        self.connections = connections
        self.timeLimit = timeLimit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let connection = Connection(context.channel)
        self.connection = connection
        connections.add(connection)
        OldProtocol.add(to: context.pipeline)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            requests += 1
            isReading = true
            if let connection { connections.begin(connection) }
            // The live events have no end of their own. `LiveBoard` cuts off clients that take nothing.
            let isLive = head.method == .get && head.path?.prefix { $0 != "?" } == "/events"
            isTransfer = Self.isTransfer(head.path)
            if timer == nil, !isLive { startTimer(context) }
        case .body:
            break
        case .end:
            isReading = false
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed, requests > 0 {
            end()
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            SecurityHeaders.add(to: &head.headerFields)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body where isTransfer:
            let written = promise ?? context.eventLoop.makePromise()
            context.write(data, promise: written)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            written.futureResult.whenSuccess { _ in
                let (handler, context) = bound.value
                handler.extendTime(context)
            }
        case .body:
            context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            context.write(data, promise: written)
            // Until the kernel has the whole answer, the connection must not be closed to make room.
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in
                let (handler, context) = bound.value
                handler.finishRequest(context)
            }
        }
    }

    /// Whether the answer to a request of an address is a file: one of the folder, or of a snapshot.
    static func isTransfer(_ path: String?) -> Bool {
        guard let path = path?.prefix(while: { $0 != "?" }) else { return false }
        return [FileRoutes.path, OwnerRoutes.filePath].contains { $0 == path }
    }

    private func finishRequest(_ context: ChannelHandlerContext) {
        guard let connection else { return }
        timer?.cancel()
        timer = nil
        // The answer to a request that could not be parsed has no head before it.
        requests = max(0, requests - 1)
        if isReading {
            context.close(promise: nil)
        } else if requests > 0 {
            startTimer(context)
        } else {
            connections.finish(connection)
        }
    }

    private func extendTime(_ context: ChannelHandlerContext) {
        guard let timer, requests > 0 else { return }
        timer.cancel()
        startTimer(context)
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: timeLimit) { channel.close(promise: nil) }
    }

    private func end() {
        timer?.cancel()
        timer = nil
        guard let connection else { return }
        self.connection = nil
        connections.remove(connection)
    }
}

@available(*, unavailable)
extension ConnectionGuard: Sendable {}
