internal import Crypto
internal import Foundation
internal import NIOCore
internal import Sync
public import TreeScan

/// Looks at single entries of an agent's folder, beside the runs of a sync.
///
/// It has a session of its own, so it ends none of a run.
public actor AgentLook {
    /// The times after which a look gives up. Somebody waits for it.
    private static let patience = AgentClient.Patience(connect: .seconds(3), silence: .seconds(3), retries: [])

    private struct Session {
        let client: AgentClient
        let identifier: String
    }

    private let address: AgentAddress
    private let token: @Sendable () throws -> String
    private let pair: String
    private var session: Task<Session, any Error>?

    /// Makes a look. The agent is asked by the first `status(of:)`.
    ///
    /// - Parameters:
    ///   - agent: The address of the agent.
    ///   - name: The name of the other side of the pair. Two looks of one name end each other's sessions.
    ///   - token: Reads the agent's token.
    public init(at agent: AgentAddress, for name: String, token: @escaping @Sendable () throws -> String) {
        address = agent
        self.token = token
        let digest = SHA256.hash(data: Data("look \(name) \(agent)".utf8))
        pair = digest.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Looks at an entry; nil if there is none, or the agent's user may not look at it.
    ///
    /// - Throws: `SyncError` if the agent gives no answer, `AgentError` if there is no token, `CancellationError`.
    public func status(of path: RelativePath) async throws -> EntryStatus? {
        let command = AgentCommand.status(folder: Data(path.parent.bytes), name: Data(path.name))
        while true {
            let isOld = session != nil
            let current = session ?? open()
            do {
                let session = try await current.value
                let answer = try await session.client.call(command, at: path, session: session.identifier)
                guard let status = answer.status else { return nil }
                guard let known = status.status else {
                    throw SyncError.wrongAnswer(.b, place: address.description, detail: "a status makes no sense")
                }
                return known
            } catch is FileSystemFailure {
                return nil
            } catch {
                // The agent may have been started again, or has another token now.
                if session == current { session = nil }
                guard isOld, !Task.isCancelled else { throw error }
            }
        }
    }

    /// Begins to open a session, one at a time.
    private func open() -> Task<Session, any Error> {
        let (address, token, pair) = (address, token, pair)
        let task = Task {
            let client = AgentClient(address, token: try token(), patience: Self.patience)
            let command = AgentCommand.open(pair: pair, version: AgentCommand.version, setsOwners: false)
            guard let session = try await client.call(command, at: .root, session: nil).session else {
                throw SyncError.wrongAnswer(.b, place: address.description, detail: "it opened no session")
            }
            return Session(client: client, identifier: session.identifier)
        }
        session = task
        return task
    }
}
