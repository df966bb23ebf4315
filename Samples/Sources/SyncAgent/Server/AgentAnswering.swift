internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import QoSRuntime
internal import SafeFiles
internal import Sync
internal import TreeScan

/// Reads the requests of clients, does their commands, and writes the answers as frames.
struct AgentAnswering: Sendable {
    /// The largest request: a part of a file, or a list of chunks.
    private static let requestLimit = 12 << 20
    /// The time after which an agent at work says so.
    private static let tick = Duration.seconds(5)
    /// The bytes that are written at a time.
    private static let piece = 64 << 10

    let root: RootFolder
    let sessions: AgentSessions
    let gate: AgentGate
    let isReadOnly: Bool
    let now: @Sendable () -> Int64

    /// Answers one request.
    @concurrent
    func answer(_ request: Request) async throws -> Response {
        do {
            try gate.check(authority: request.head.authority, headers: request.headers)
        } catch {
            return Self.refusal(error.status, error.text)
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: Self.requestLimit)
        } catch let error as any HTTPResponseError {
            return Self.refusal(error.status, "The request is too long.")
        }
        var frames = FrameReader()
        frames.append(body.readableBytesView)
        let command: AgentCommand
        do {
            guard let header = try frames.next() else { throw WireError("the command is missing") }
            command = try JSONDecoder().decode(AgentCommand.self, from: Data(header))
        } catch {
            return Self.refusal(.badRequest, "This is no command of this agent. Use the same version of qos-sync.")
        }
        let identifier = HTTPField.Name(AgentCommand.sessionField).flatMap { request.headers[$0] }
        let rest = frames
        return Response(
            status: .ok, headers: [.contentType: "application/octet-stream"],
            body: ResponseBody { writer in
                let pipe = FramePipe()
                async let work: Void = send(command, rest, identifier, to: pipe)
                while let bytes = await pipe.next() { try await writer.write(ByteBuffer(bytes: bytes)) }
                try await work
                try await writer.finish(nil)
            })
    }

    private static func refusal(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Does a command, and sends its answer or its failure.
    private func send(
        _ command: AgentCommand, _ payload: FrameReader, _ identifier: String?, to pipe: FramePipe
    ) async throws {
        defer { pipe.finish() }
        do {
            let answer = try await perform(command, payload, identifier, pipe)
            try await Self.write(.answer, Array(try JSONEncoder().encode(answer)), to: pipe)
        } catch {
            guard let failure = AgentFailure(error) else { throw error }
            try await Self.write(.failure, Array(try JSONEncoder().encode(failure)), to: pipe)
        }
    }

    // MARK: Commands

    private func perform(
        _ command: AgentCommand, _ payload: FrameReader, _ identifier: String?,
        _ pipe: FramePipe
    ) async throws -> AgentAnswer {
        guard root.isCurrent else {
            throw AgentFailure(reason: .replaced, text: "the agent's folder was replaced or unmounted")
        }
        if case .open(let pair, let version, let setsOwners) = command {
            return try await open(pair, version, setsOwners, pipe)
        }
        let session = try await sessions.session(identifier)
        let commands = AgentCommands(session: session)
        switch command {
        case .scan(let probing, let excludes):
            let rules = try ExcludeRules(excludes ?? [])
            return try await scan(session, probing: probing && !isReadOnly, leavingOut: rules, pipe)
        case .chunks(let seen, let normal): return try await chunks(commands, seen, normal, pipe)
        case .read(let seen, let start, let level):
            return try await read(commands, seen, start, level ?? 1, payload, pipe)
        case .attributePrints: return try await prints(session, payload, pipe)
        default: break
        }
        guard command.isChange else { return try await working(pipe) { try await commands.perform(command) } }
        guard !isReadOnly else { throw AgentFailure(reason: .readOnly, text: "the agent changes nothing") }
        try session.enter()
        defer { session.leave() }
        return try await working(pipe) {
            guard case .write(let part) = command else { return try await commands.perform(command) }
            var frames = payload
            return try await commands.write(part, &frames)
        }
    }

    private func open(
        _ pair: String, _ version: Int, _ setsOwners: Bool, _ pipe: FramePipe
    ) async throws -> AgentAnswer {
        guard version == AgentCommand.version else {
            throw AgentFailure(
                reason: .command, text: "the agent has version \(AgentCommand.version) of the protocol, not \(version)")
        }
        guard pair.utf8.count == 16, pair.utf8.allSatisfy({ isxdigit(Int32($0)) != 0 }) else {
            throw WireError("a pair has no name")
        }
        let sessions = sessions
        let session = try await working(pipe) { try await sessions.open(pair: pair, setsOwners: setsOwners) }
        var answer = AgentAnswer()
        answer.session = AgentAnswer.Session(
            identifier: session.identifier, setsOwners: session.replica.setsOwners,
            inode: try session.replica.identity(), level: AgentCommand.level)
        return answer
    }

    private func scan(
        _ session: AgentSession, probing: Bool, leavingOut rules: ExcludeRules, _ pipe: FramePipe
    ) async throws -> AgentAnswer {
        let now = now
        let scan = try await working(pipe) {
            try await session.replica.scan(at: now(), probing: probing, leavingOut: rules)
        }
        var batch: [UInt8] = []
        for piece in ScanPiece.all(of: scan) {
            batch += FrameReader.frame([AgentFrame.piece.rawValue] + piece.encoded)
            guard batch.count >= Self.piece else { continue }
            try await pipe.send(batch)
            batch = []
        }
        try await pipe.send(batch)
        var answer = AgentAnswer()
        answer.time = scan.time
        answer.foldsCase = scan.foldsCase
        return answer
    }

    private func chunks(
        _ commands: AgentCommands, _ seen: SeenEntry, _ normal: Int, _ pipe: FramePipe
    ) async throws -> AgentAnswer {
        let list = try await working(pipe) {
            // An old version that is another one by now has nothing to offer.
            guard let (file, _, stamp) = try? commands.open(seen), ChunkList.isSize(normal) else {
                return nil as ChunkList?
            }
            return await ChunkList(of: file, size: stamp.size, normal: normal)
        }
        let bytes = list?.encoded ?? []
        for start in stride(from: 0, to: bytes.count, by: DeltaStep.dataLimit) {
            let end = min(start + DeltaStep.dataLimit, bytes.count)
            try await Self.write(.piece, Array(bytes[start..<end]), to: pipe)
        }
        return AgentAnswer()
    }

    private func read(
        _ commands: AgentCommands, _ seen: SeenEntry, _ start: Int64, _ level: Int, _ payload: FrameReader,
        _ pipe: FramePipe
    ) async throws -> AgentAnswer {
        var frames = payload
        var list: [UInt8] = []
        while let frame = try frames.next() { list += frame }
        let former = list.isEmpty ? nil : try ChunkList(decoding: list)
        var answer = AgentAnswer()
        answer.time = now()
        let (file, entry, stamp) = try commands.open(seen)
        guard (0...stamp.size).contains(start) else { throw WireError("a place is out of its file") }
        var maker = DeltaMaker(former: former, holes: level >= 2)
        let isWhole = try await maker.run(file, from: start, to: stamp.size) { step, _ in
            try await Self.write(.piece, step.encoded, to: pipe)
        }
        let digest = try await working(pipe) { await FileDigest.compute(file, to: stamp.size) }
        let after = EntryStatus(descriptor: file.number)
        guard isWhole, let digest, let after, after.stamp == stamp else {
            throw FileSystemFailure(path: entry.path, operation: "read", code: ESTALE)
        }
        answer.digest = Data(digest)
        answer.status = SeenStatus(after)
        if level >= 2 {
            answer.attributes = ExtendedAttributes.all(of: file.number).map {
                AgentAttribute.all(of: $0, privileged: commands.session.replica.setsOwners).sent
            }
        }
        return answer
    }

    private func prints(
        _ session: AgentSession, _ payload: FrameReader, _ pipe: FramePipe
    ) async throws -> AgentAnswer {
        var frames = payload
        var paths: [RelativePath] = []
        while let frame = try frames.next() { paths.append(try NameRules.path(Array(frame))) }
        let wanted = paths
        let prints = try await working(pipe) { try await session.replica.attributes(of: wanted) }
        for (path, print) in prints { try await Self.write(.piece, PrintPiece.encode(path, print), to: pipe) }
        return AgentAnswer()
    }

    // MARK: Frames

    private static func write(
        _ kind: AgentFrame, _ payload: [UInt8], to pipe: FramePipe
    ) async throws {
        try await pipe.send(FrameReader.frame([kind.rawValue] + payload))
    }

    /// Runs a body, and tells the client from time to time that it is at work.
    private func working<Value: Sendable>(
        _ pipe: FramePipe, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: WorkEvent<Value>.self) { group in
            defer { group.cancelAll() }
            group.addTask { .done(try await body()) }
            group.addTask {
                try await Task.sleep(for: Self.tick)
                return .tick
            }
            while let event = try await group.next() {
                guard case .done(let value) = event else {
                    try await Self.write(.working, [], to: pipe)
                    group.addTask {
                        try await Task.sleep(for: Self.tick)
                        return .tick
                    }
                    continue
                }
                return value
            }
            throw CancellationError()
        }
    }
}

/// What happens first: the end of some work, or the time to tell that it goes on.
private enum WorkEvent<Value: Sendable>: Sendable {
    case done(Value)
    case tick
}

extension AgentFailure {
    /// The failure for an error of a command; nil for one that is none of the command.
    fileprivate init?(_ error: any Error) {
        switch error {
        case let failure as AgentFailure: self = failure
        case let failure as FileSystemFailure: self.init(reason: .file, text: failure.operation, code: failure.code)
        case let error as WireError: self.init(reason: .command, text: error.description)
        case let error as ExcludeError: self.init(reason: .command, text: error.description)
        case SyncError.notWritten(_, let code): self.init(reason: .file, text: "write to the disk", code: code)
        case let error as TreeScanError: self.init(reason: .replaced, text: error.description)
        case let error as SyncError: self.init(reason: .command, text: error.description)
        default: return nil
        }
    }
}
