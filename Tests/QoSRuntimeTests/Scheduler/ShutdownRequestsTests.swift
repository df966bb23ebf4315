import Testing

@testable import QoSRuntime

@Suite("Requests to shut down")
struct ShutdownRequestsTests {
    @Test("the earliest deadline since the last look is taken, once")
    func deadlines() {
        var requests = ShutdownRequests()
        #expect(requests.takeRequest() == nil)
        #expect(requests.request(deadline: 20, nil) == nil)
        #expect(requests.request(deadline: 10, nil) == nil)
        #expect(requests.request(deadline: 30, nil) == nil)
        #expect(requests.takeRequest() == 10)
        #expect(requests.takeRequest() == nil)
    }

    @Test("everybody who waits gets the report, and who comes later at once")
    func reports() async {
        let report = await withCheckedContinuation { continuation in
            var requests = ShutdownRequests()
            _ = requests.request(deadline: 1, continuation)
            requests.abandonedWorkers = ["qos-bg-1"]
            let ended = requests.end()
            #expect(ended.waiting.count == 1)
            #expect(requests.request(deadline: 1, nil) == ended.report)
            #expect(requests.end().waiting.isEmpty)
            ended.resume()
        }
        #expect(report.abandonedWorkers == ["qos-bg-1"])
        #expect(!report.isClean)
    }
}
