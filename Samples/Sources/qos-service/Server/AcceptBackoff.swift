internal import CoreMetrics
internal import Glibc
internal import NIOCore

/// Pauses after a connection could not be accepted for lack of descriptors or memory.
///
/// The connection stays in the kernel's backlog, so the socket stays readable. The loop would try again at once, and
/// forever. To withhold `read` is not enough: the failed read is still pending in the channel. Only without `autoRead`
/// does the loop stop watching the socket.
/// `autoRead` does the loop stop to watch the socket.
final class AcceptBackoff: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private static let pause = TimeAmount.milliseconds(100)

    private var isPausing = false

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (error as? IOError)?.errnoCode {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            ServiceMetrics.acceptFailures.increment()
            pause(context)
        case ECONNABORTED:
            // The client has already left. This must not end the sequence of connections for all others.
            break
        default:
            context.fireErrorCaught(error)
        }
    }

    func read(context: ChannelHandlerContext) {
        // The end of the pause reads.
        if !isPausing { context.read() }
    }

    private func pause(_ context: ChannelHandlerContext) {
        guard !isPausing else { return }
        isPausing = true
        setReading(false, context)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.isPausing = false
            if context.channel.isActive { handler.setReading(true, context) }
        }
    }

    private func setReading(_ isReading: Bool, _ context: ChannelHandlerContext) {
        // On the channel's own loop this takes effect at once. It fails only on a closed channel, which reads nothing.
        context.channel.setOption(.autoRead, value: isReading).whenComplete { _ in }
    }
}

@available(*, unavailable)
extension AcceptBackoff: Sendable {}
