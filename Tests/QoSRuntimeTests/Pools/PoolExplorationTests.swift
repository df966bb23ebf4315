import Testing

@testable import QoSRuntime

@Suite("Wake and park", .tags(.exploration))
struct PoolExplorationTests {
    /// A small world: how many workers there may be, how many nodes each adder adds, how many the jobs add, and whether
    /// a fence stops the class for a while.
    struct World: Sendable, CustomTestStringConvertible {
        let width: Int
        let adders: [Int]
        var spawns = 0
        var checkpoints = 0
        var promotions = 0
        var hasFence = false
        var wakesBesideLate = false
        var prefersSecond = false

        var testDescription: String {
            "\(width) workers, adders of \(adders) nodes, \(spawns) from jobs, \(checkpoints) checkpoints, "
                + "\(promotions) promotions\(hasFence ? ", a fence" : "")"
                + (wakesBesideLate ? ", wake-ups are late" : "")
                + (prefersSecond ? ", the second is preferred" : "")
        }

        func model(_ omissions: PoolModel.Omissions = []) -> PoolModel {
            PoolModel(
                width: width, adders: adders, spawns: spawns, checkpoints: checkpoints, promotions: promotions,
                hasFence: hasFence, wakesBesideLate: wakesBesideLate, prefersSecond: prefersSecond,
                omissions: omissions)
        }
    }

    @Test(
        "in every interleaving no work is left lying while a worker is free, even if jobs never end",
        arguments: [
            World(width: 1, adders: [2, 1], spawns: 1),
            World(width: 1, adders: [1, 1], hasFence: true),
            World(width: 2, adders: [1, 1]),
            World(width: 2, adders: [2], spawns: 1),
            World(width: 2, adders: [3]),
            World(width: 2, adders: [2], hasFence: true),
            World(width: 1, adders: [1, 1], checkpoints: 2, promotions: 1, hasFence: true),
            World(width: 2, adders: [2], checkpoints: 1, promotions: 1, hasFence: true),
            World(width: 2, adders: [1, 1], wakesBesideLate: true),
            World(width: 2, adders: [2], spawns: 1, wakesBesideLate: true),
            World(width: 2, adders: [3], wakesBesideLate: true),
            World(width: 2, adders: [2], hasFence: true, wakesBesideLate: true),
            World(width: 2, adders: [1, 1], prefersSecond: true),
            World(width: 2, adders: [3], prefersSecond: true),
            World(width: 2, adders: [2], spawns: 1, prefersSecond: true),
            World(width: 2, adders: [2], hasFence: true, prefersSecond: true),
            World(width: 2, adders: [2], spawns: 1, wakesBesideLate: true, prefersSecond: true),
        ])
    func explored(_ world: World) {
        let exploration = Exploration(of: world.model())
        #expect(exploration.violation == nil)
        #expect(exploration.ends > 0)
        #expect(exploration.states > 100)
    }

    @Test(
        "each look that the protocol demands is needed: without it work is left lying",
        arguments: [
            (World(width: 2, adders: [3]), .sharing),
            (World(width: 1, adders: [2], hasFence: true), .lookAfterGivingBack),
            (World(width: 1, adders: [2]), .lookAfterParking),
            (World(width: 2, adders: [2], checkpoints: 1, hasFence: true), .waitingFirst),
            (World(width: 2, adders: [2], checkpoints: 1, hasFence: true), .lookAfterWaiting),
        ] as [(World, PoolModel.Omissions)])
    func omissions(_ world: World, _ omission: PoolModel.Omissions) throws {
        let exploration = Exploration(of: world.model(omission))
        let violation = try #require(exploration.violation)
        #expect(violation.contains("nobody is on the way"), "\(violation)")
    }
}
