import QoSCore
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Testing

@Suite("Handlers of requests to give way, in virtual time")
struct DeferralHandlerTests {
    @Test("a handler is told of each request at once, and of one that came before it, and no more after its operation")
    func handler() throws {
        let world = HostWorld()
        let told = Collected<Duration>()
        let host = try world.host([
            Scripted { _, context in
                // No breath: the request comes to the handler alone.
                try await context.withDeferralHandler {
                    try await world.sleep(.seconds(20))
                } onRequest: {
                    told.append(world.clock.elapsed)
                }
                try await world.sleep(.seconds(5))
                await context.withDeferralHandler {
                } onRequest: {
                    told.append(.zero)
                }
                return .finished
            }
        ])
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(), when: [.named("quiet")])
            try await world.sleep(.seconds(3))
            world.setUnmet(["quiet"])
            try await world.sleep(.seconds(4))
            world.setUnmet([])
            try await world.sleep(.seconds(4))
            world.setUnmet(["quiet"])
            try await world.sleep(.seconds(4))
            world.setUnmet([])
            try await world.sleep(.seconds(6))
            world.setUnmet(["quiet"])
            #expect(try await item.outcome == .finished)
        }
        #expect(told.values == [.seconds(3), .seconds(11), .zero])
    }
}
