import SampleTestSupport

@testable import Sync

/// What side B is in a test.
enum Opposite: CaseIterable {
    /// A folder of this machine.
    case folder
    /// A folder of an agent.
    case agent
}

/// Two folders of which the second one may be that of an agent.
struct OpposedWorld {
    let world: SyncWorld
    let agent: RunningServer?

    init(_ opposite: Opposite) async throws {
        world = try SyncWorld()
        agent = opposite == .agent ? try await RunningServer.agent(world.b) : nil
    }

    var folder: TemporaryFolder { world.temporary }

    @discardableResult
    func sync(_ change: (inout SyncOptions) -> Void = { _ in }) async throws -> SyncReport {
        guard let agent else { return try await world.sync(change) }
        return try await world.sync(with: agent, change)
    }
}
