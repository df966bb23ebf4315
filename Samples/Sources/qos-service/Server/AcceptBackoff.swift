internal import CoreMetrics
internal import Glibc
internal import NIOCore

/// Waits after a connection could not be accepted for want of descriptors or memory.
///
/// The connection stays in the kernel's backlog, so the event loop would else try again at once, and for ever.
final class AcceptBackoff: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private static let pause = TimeAmount.milliseconds(100)

    private var isPausing = false
    private var wantsToRead = false

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(failure.errnoCode) else {
            context.fireErrorCaught(error)
            return
        }
        guard !isPausing else { return }
        isPausing = true
        ServiceMetrics.acceptFailures.increment()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.isPausing = false
            if handler.wantsToRead, context.channel.isActive { context.read() }
            handler.wantsToRead = false
        }
    }

    func read(context: ChannelHandlerContext) {
        if isPausing {
            wantsToRead = true
        } else {
            context.read()
        }
    }
}

@available(*, unavailable)
extension AcceptBackoff: Sendable {}
