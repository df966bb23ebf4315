import Testing

@testable import QoSRuntime

@Suite("A value that tasks follow", .timeLimit(.minutes(5)))
struct ValueBroadcastTests {
    @Test("S1 a sequence begins with the present value; a slow task sees the newest one")
    func newest() async {
        let broadcast = ValueBroadcast(1)
        var values = broadcast.values().makeAsyncIterator()
        #expect(await values.next() == 1)
        broadcast.publish(2)
        broadcast.publish(3)
        #expect(await values.next() == 3)
        #expect(broadcast.value == 3)
    }

    @Test("S1 the same value again is no change")
    func same() async {
        let broadcast = ValueBroadcast(1)
        var values = broadcast.values().makeAsyncIterator()
        #expect(await values.next() == 1)
        broadcast.publish(1)
        broadcast.publish(2)
        #expect(await values.next() == 2)
    }

    @Test("S1 the end ends all sequences after their last value; later ones have one value")
    func ends() async {
        let broadcast = ValueBroadcast(1)
        let early = broadcast.values()
        broadcast.publish(2)
        broadcast.finish()
        broadcast.publish(3)
        for values in [early, broadcast.values()] {
            var all: [Int] = []
            for await value in values { all.append(value) }
            #expect(all == [2])
        }
    }

    @Test("S1 a task that no longer follows is forgotten")
    func forgets() async {
        let broadcast = ValueBroadcast(1)
        let task = Task { for await _ in broadcast.values() {} }
        while broadcast.subscriberCount == 0 { await Task.yield() }
        task.cancel()
        await task.value
        #expect(broadcast.subscriberCount == 0)
    }
}
