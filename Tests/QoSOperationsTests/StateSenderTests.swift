import Testing

@testable import QoSOperations

@Suite("States that are sent in their order")
struct StateSenderTests {
    private func makeSender() -> (stream: AsyncStream<Int>, sender: StateSender<Int>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        return (stream, StateSender(continuation))
    }

    @Test("An older state that comes late is passed over")
    func late() async {
        let (stream, sender) = makeSender()
        sender.send(20, 2)
        sender.send(10, 1)
        var states = stream.makeAsyncIterator()
        let first = await states.next()
        #expect(first == 20)
        sender.send(30, 3)
        let second = await states.next()
        #expect(second == 30)
    }

    @Test("The stream ends with the last state, whatever comes later")
    func end() async {
        let (stream, sender) = makeSender()
        sender.send(20, 2, isLast: true)
        sender.send(10, 1)
        var seen: [Int] = []
        for await state in stream { seen.append(state) }
        #expect(seen == [20])
    }
}
