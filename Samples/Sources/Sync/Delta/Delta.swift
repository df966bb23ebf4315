internal import CFileSystem
internal import Chunking
internal import Glibc
internal import QoSRuntime
package import SafeFiles

/// A step of building a file.
package enum DeltaStep: Sendable, Hashable {
    /// Bytes that the old version has.
    case copy(offset: Int64, length: Int64)
    /// Bytes that it does not have.
    case data([UInt8])
    /// Bytes of zero that occupy no room. Of level 2 of the protocol.
    case hole(length: Int64)

    /// The bytes of one step of data, at most.
    package static let dataLimit = 256 << 10

    /// The step as the payload of a frame.
    package var encoded: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .copy(let offset, let length):
            writer.byte(1)
            writer.number(UInt64(offset))
            writer.number(UInt64(length))
        case .data(let bytes):
            writer.byte(2)
            writer.raw(bytes)
        case .hole(let length):
            writer.byte(3)
            writer.number(UInt64(length))
        }
        return writer.bytes
    }

    /// Reads the payload of a frame; nil if it is one of another kind.
    package init?(_ payload: ArraySlice<UInt8>) throws(WireError) {
        switch payload.first {
        case 1:
            var reader = WireReader(payload.dropFirst())
            let (offset, length) = (try reader.number(), try reader.number())
            guard offset <= UInt64(Int64.max / 2), length <= UInt64(Int64.max / 2) else {
                throw WireError("a place in a file is too large")
            }
            self = .copy(offset: Int64(offset), length: Int64(length))
        case 2: self = .data(Array(payload.dropFirst()))
        case 3:
            var reader = WireReader(payload.dropFirst())
            let length = try reader.number()
            guard length <= UInt64(Int64.max / 2) else { throw WireError("a hole is too long") }
            self = .hole(length: Int64(length))
        default: return nil
        }
    }
}

/// Turns the content of a file into steps: what an old version has is named, and the rest is in them.
package struct DeltaMaker {
    private struct Place {
        var offset: Int64
        var length: Int
    }

    private var known: [UInt64: Place] = [:]
    private let normal: Int?
    private let holes: Bool
    private var copy: (offset: Int64, length: Int64)?
    private var data: [UInt8] = []

    /// The number of bytes that the old version has.
    package private(set) var reused: Int64 = 0

    /// The shortest hole that is worth a step, in bytes. One between chunks of an old version moves their ends.
    private static let shortestHole = (alone: Int64(4096), withChunks: Int64(64 << 10))

    /// - Parameters:
    ///   - former: The chunks of the old version; nil if there is none.
    ///   - holes: Whether holes are steps of their own.
    package init(former: ChunkList?, holes: Bool = false) {
        self.holes = holes
        normal = former?.normal
        var offset: Int64 = 0
        for chunk in former?.chunks ?? [] {
            known[chunk.key] = Place(offset: offset, length: chunk.length)
            offset += Int64(chunk.length)
        }
    }

    /// Reads a file from `start` to `end`, and hands out the steps.
    ///
    /// - Parameter emit: Takes a step, and the place up to which all steps so far build the file.
    /// - Returns: Whether all bytes could be read.
    package mutating func run(
        _ file: OpenDescriptor, from start: Int64, to end: Int64,
        _ emit: (DeltaStep, _ end: Int64) async throws -> Void
    ) async throws -> Bool {
        var stream = normal.map { ChunkStream(ChunkList.chunker(normal: $0)) }
        var (position, done) = (start, start)
        while position < end {
            try Task.checkCancellation()
            let shortest = normal == nil ? Self.shortestHole.alone : Self.shortestHole.withChunks
            let data = holes ? FileBytes.data(file.number, from: position, to: end, skipping: shortest) : position..<end
            if data.lowerBound > position {
                stream?.finish()
                while let chunk = stream?.next() { try await add(chunk, &done, emit) }
                try await flush(&done, emit)
                stream = normal.map { ChunkStream(ChunkList.chunker(normal: $0)) }
                try await emit(.hole(length: data.lowerBound - position), data.lowerBound)
                (position, done) = (data.lowerBound, data.lowerBound)
                continue
            }
            let (offset, wanted) = (Int(position), Int(min(Int64(DeltaStep.dataLimit), data.upperBound - position)))
            let (bytes, code) = try await IOThrottle.process.perform(bytes: wanted) { granted in
                FileBytes.read(file.number, from: offset, count: max(1, min(wanted, granted)))
            }
            guard code == 0, !bytes.isEmpty else { return false }
            position += Int64(bytes.count)
            guard stream != nil else {
                try await emit(.data(bytes), position)
                continue
            }
            stream?.append(bytes)
            if position == end { stream?.finish() }
            while let chunk = stream?.next() { try await add(chunk, &done, emit) }
        }
        try await flush(&done, emit)
        return true
    }

    private mutating func add(
        _ chunk: [UInt8], _ done: inout Int64, _ emit: (DeltaStep, Int64) async throws -> Void
    ) async throws {
        guard let place = known[ChunkList.key(of: chunk)], place.length == chunk.count else {
            if copy != nil || data.count + chunk.count > DeltaStep.dataLimit { try await flush(&done, emit) }
            if chunk.count > DeltaStep.dataLimit {
                // A chunk of the largest size is longer than a step.
                for start in stride(from: 0, to: chunk.count, by: DeltaStep.dataLimit) {
                    data = Array(chunk[start..<min(start + DeltaStep.dataLimit, chunk.count)])
                    try await flush(&done, emit)
                }
            } else {
                data += chunk
            }
            return
        }
        reused += Int64(chunk.count)
        if let open = copy, open.offset + open.length == place.offset {
            copy?.length += Int64(chunk.count)
        } else {
            try await flush(&done, emit)
            copy = (place.offset, Int64(chunk.count))
        }
    }

    private mutating func flush(
        _ done: inout Int64, _ emit: (DeltaStep, Int64) async throws -> Void
    ) async throws {
        if let (offset, length) = copy {
            done += length
            try await emit(.copy(offset: offset, length: length), done)
        } else if !data.isEmpty {
            done += Int64(data.count)
            try await emit(.data(data), done)
        }
        copy = nil
        data = []
    }
}

/// Builds a file from steps.
package struct DeltaWriter: Sendable {
    private static let piece = 1 << 20

    private let former: OpenDescriptor?
    private let output: OpenDescriptor
    /// The largest size of the file.
    private let limit: Int64
    /// The place behind the last byte that was written.
    package private(set) var position: Int64
    /// The number of bytes that came from the old version.
    package private(set) var reused: Int64 = 0

    package init(former: OpenDescriptor?, output: OpenDescriptor, from position: Int64, limit: Int64) {
        self.former = former
        self.output = output
        self.position = position
        self.limit = limit
    }

    /// Does a step. Returns the error number, or 0. `EBADMSG` stands for a step that makes no sense.
    package mutating func write(_ step: DeltaStep) async throws -> Int32 {
        switch step {
        case .data(let bytes):
            guard Int64(bytes.count) <= limit - position else { return EBADMSG }
            let (file, offset) = (output, position)
            let code = try await IOThrottle.process.perform(bytes: bytes.count) { _ in
                FileBytes.write(bytes[...], to: file.number, at: offset)
            }
            position += Int64(bytes.count)
            return code
        case .hole(let length):
            guard length <= limit - position else { return EBADMSG }
            position += length
            return ftruncate(output.number, off_t(position)) == 0 ? 0 : errno
        case .copy(let start, let length):
            guard let former, length <= limit - position else { return EBADMSG }
            var (from, rest) = (start, length)
            while rest > 0 {
                let (file, source, to, at) = (output, from, position, Int(min(rest, Int64(Self.piece))))
                let (count, code) = try await IOThrottle.process.perform(bytes: at) { granted in
                    Self.copy(former.number, source, file.number, to, max(1, min(at, granted)))
                }
                guard code == 0 else { return code }
                // The old version is shorter than its list of chunks says.
                guard count > 0 else { return EBADMSG }
                from += Int64(count)
                position += Int64(count)
                reused += Int64(count)
                rest -= Int64(count)
            }
            return 0
        }
    }

    private static func copy(
        _ input: Int32, _ start: Int64, _ output: Int32, _ place: Int64, _ count: Int
    ) -> (count: Int, code: Int32) {
        var (from, to) = (off_t(start), off_t(place))
        let copied = unsafe copy_file_range(input, &from, output, &to, count, 0)
        if copied > 0 { return (copied, 0) }
        let (bytes, code) = FileBytes.read(input, from: Int(start), count: count)
        guard code == 0 else { return (0, code) }
        return (bytes.count, FileBytes.write(bytes[...], to: output, at: place))
    }
}
