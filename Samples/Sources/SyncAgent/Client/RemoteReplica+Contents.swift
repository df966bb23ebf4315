internal import Crypto
internal import Foundation
internal import Glibc
internal import SafeFiles
internal import Sync
internal import TreeScan

extension RemoteReplica {
    /// The bytes of a part of a file that need not be put on the disk at once.
    private static let part: Int64 = 4 << 20

    // MARK: Sending

    func send(
        _ order: SendOrder, from source: OpenDescriptor, progress: (SendProgress) throws -> Void
    ) async throws -> SendResult {
        var list: ChunkList?
        if let former = order.former { list = try await chunks(of: former, for: order.size) }
        do {
            return try await send(order, from: source, list, progress)
        } catch let failure as FileSystemFailure where list != nil && [EBADMSG, ESTALE].contains(failure.code) {
            // The old version changed meanwhile, or two chunks have one short digest.
            await RemoteFolder(order.path.parent, of: self).discard(order.temporary)
            return try await send(order, from: source, nil, progress)
        } catch let failure as FileSystemFailure where failure.code == EBADMSG {
            throw wrong("it says that other bytes came than were sent, for \(order.path.display)")
        }
    }

    private func chunks(of former: Observation, for size: Int64) async throws -> ChunkList? {
        var bytes: [UInt8] = []
        let normal = ChunkList.normalSize(for: max(size, former.stamp.size))
        _ = try await call(.chunks(SeenEntry(former), normal: normal), at: former.path) { piece in
            guard bytes.count < 16 << 20 else { throw WireError("a list of chunks is too long") }
            bytes += piece
        }
        guard !bytes.isEmpty else { return nil }
        do {
            return try ChunkList(decoding: bytes)
        } catch {
            throw wrong(error.description)
        }
    }

    private func send(
        _ order: SendOrder, from source: OpenDescriptor, _ list: ChunkList?, _ progress: (SendProgress) throws -> Void
    ) async throws -> SendResult {
        let partSize = order.durablePart ?? Self.part
        var maker = DeltaMaker(former: list, holes: level >= 2)
        var frames: [UInt8] = []
        var position = order.start
        var part = AgentPart(
            folder: Data(order.path.parent.bytes), temporary: Data(order.temporary), start: order.start,
            size: order.size,
            former: list == nil ? nil : order.former.map(SeenEntry.init), room: order.room,
            isDurable: order.durablePart != nil)
        var reused: Int64 = 0
        let isWhole = try await maker.run(source, from: order.start, to: order.size) { step, end in
            // A part ends before the step that would make it too long.
            if !frames.isEmpty, end - part.start > partSize {
                let answer = try await write(part, frames, of: order)
                reused += answer.reused ?? 0
                if part.isDurable {
                    guard let inode = answer.status?.inode else { throw wrong("a part has no status") }
                    try progress(SendProgress(done: position, inode: inode))
                }
                (frames, part.start) = ([], position)
            }
            frames += FrameReader.frame(step.encoded)
            position = end
        }
        guard isWhole, let digest = await FileDigest.compute(source, to: order.size) else {
            throw FileSystemFailure(path: order.path, operation: "read", code: ESTALE)
        }
        let attributes = order.attributes.map { AgentAttribute.all(of: $0, privileged: setsOwners) }
        part.end = AgentPart.End(
            digest: Data(digest), metadata: order.metadata, setsOwners: setsOwners, attributes: attributes?.sent)
        let answer = try await write(part, frames, of: order)
        guard let status = answer.status?.status, status.kind == .regular, status.stamp.size == order.size else {
            throw wrong("a file that was sent has another length, for \(order.path.display)")
        }
        var result = SendResult(status: status, reused: reused + (answer.reused ?? 0), digest: digest)
        result.lost = (attributes?.left ?? []) + (answer.lost ?? []).map { Array($0) }
        if level < 2 { result.lost = order.attributes.map { Array($0.keys) } ?? [] }
        return result
    }

    private func write(_ part: AgentPart, _ frames: [UInt8], of order: SendOrder) async throws -> AgentAnswer {
        try await call(.write(part), at: order.path, payload: frames) { _ in
            throw WireError("there are pieces where none belong")
        }
    }

    // MARK: Receiving

    func receive(
        _ order: ReceiveOrder, into output: OpenDescriptor, progress: (Int64) throws -> Void
    ) async throws -> ReceiveResult {
        var list: ChunkList?
        if let former = order.former, let status = EntryStatus(descriptor: former.number) {
            let normal = ChunkList.normalSize(for: max(order.source.stamp.size, status.stamp.size))
            list = await ChunkList(of: former, size: status.stamp.size, normal: normal)
        }
        if let list, !list.chunks.isEmpty {
            if let result = try await receive(order, list, into: output, progress) { return result }
            guard ftruncate(output.number, 0) == 0 else {
                throw FileSystemFailure(path: order.source.path, operation: "shorten", code: errno)
            }
        }
        var whole = order
        whole.former = nil
        guard let result = try await receive(whole, nil, into: output, progress) else {
            // An interrupted file may be one of an earlier version.
            guard order.start == 0 else { throw changed(order) }
            throw wrong("the bytes that came are not those of its digest, for \(order.source.path.display)")
        }
        return result
    }

    private func changed(_ order: ReceiveOrder) -> FileSystemFailure {
        FileSystemFailure(path: order.source.path, operation: "read", code: ESTALE)
    }

    /// Returns nil if the bytes are not those of the digest.
    private func receive(
        _ order: ReceiveOrder, _ list: ChunkList?, into output: OpenDescriptor, _ progress: (Int64) throws -> Void
    ) async throws -> ReceiveResult? {
        var payload: [UInt8] = []
        let encoded = list?.encoded ?? []
        for start in stride(from: 0, to: encoded.count, by: DeltaStep.dataLimit) {
            payload += FrameReader.frame(Array(encoded[start..<min(start + DeltaStep.dataLimit, encoded.count)]))
        }
        let path = order.source.path
        var writer = DeltaWriter(
            former: order.former, output: output, from: order.start, limit: order.source.stamp.size)
        let command = AgentCommand.read(SeenEntry(order.source), start: order.start, level: level)
        let answer = try await call(command, at: path, payload: payload) { piece in
            guard let step = try DeltaStep(piece) else { throw WireError("a step is of an unknown kind") }
            let code = try await writer.write(step)
            if code == EBADMSG {
                guard order.former == nil else { throw changed(order) }
                throw WireError("a step is not one of this file")
            }
            guard code == 0 else { throw FileSystemFailure(path: path, operation: "write", code: code) }
            try progress(writer.position)
        }
        guard let digest = answer.digest, let time = answer.time, let status = answer.status?.status else {
            throw wrong("a file has no digest")
        }
        guard order.source.isSame(as: status) else { throw changed(order) }
        guard writer.position == status.stamp.size,
            await FileDigest.compute(output, to: status.stamp.size) == Array(digest)
        else { return nil }
        var result = ReceiveResult(stamp: status.stamp, time: time, reused: writer.reused, digest: Array(digest))
        result.attributes = try answer.attributes.map { try values($0) }
        return result
    }
}
