import QoSCore
import Testing

@Suite("What an item's flags say of a shutdown")
struct ShutdownFlagTests {
    @Test("what was said can be read, beside other flags", arguments: ShutdownBehavior.allCases)
    func readable(_ behavior: ShutdownBehavior) {
        #expect(WorkItemFlags.onShutdown(behavior).shutdownBehavior == behavior)
        let flags: WorkItemFlags = [.barrier, .detached, .onShutdown(behavior)]
        #expect(flags.shutdownBehavior == behavior)
        #expect(flags.contains([.barrier, .detached]))
    }

    @Test("flags that say nothing say nothing")
    func nothing() {
        let flags: WorkItemFlags = [.inheritQoS, .enforceQoS, .noQoS, .detached, .assignCurrent, .barrier]
        #expect(flags.shutdownBehavior == nil)
    }

    @Test("of two different ones, finish counts", arguments: ShutdownBehavior.allCases, ShutdownBehavior.allCases)
    func several(_ first: ShutdownBehavior, _ second: ShutdownBehavior) {
        let flags: WorkItemFlags = [.onShutdown(first), .onShutdown(second)]
        #expect(flags.shutdownBehavior == (first == second ? first : .finish))
    }
}
