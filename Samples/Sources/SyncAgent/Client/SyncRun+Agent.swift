public import Sync

extension SyncRun {
    /// Opens a folder of this machine, the way to an agent, and the archive. The agent is asked by the first run.
    ///
    /// - Parameters:
    ///   - a: The path of A. Only this path itself may be a link.
    ///   - agent: The address of B's agent.
    ///   - token: The agent's token.
    /// - Throws: `SyncError`, or `TreeScanError` if the folder is missing or cannot be read.
    public convenience init(a: String, agent: AgentAddress, token: String, options: SyncOptions = SyncOptions()) throws
    {
        let client = AgentClient(agent, token: token)
        try self.init(a: a, place: agent.description, options: options) { RemoteReplica(client, pair: $0) }
    }

    /// Does the same with other times after which a client gives up.
    convenience init(a: String, client: AgentClient, options: SyncOptions) throws {
        try self.init(a: a, place: client.address.description, options: options) { RemoteReplica(client, pair: $0) }
    }
}
