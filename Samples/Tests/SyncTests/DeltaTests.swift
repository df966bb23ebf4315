import Foundation
import Glibc
import SafeFiles
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync
@testable import SyncAgent

@Suite("Chunk lists, steps and frames")
struct DeltaTests {
    private func open(_ path: String) throws -> OpenDescriptor {
        let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        return OpenDescriptor(owning: file)
    }

    @Test("a file is built from its old version and the steps, and few bytes are in them", arguments: 0..<8)
    func mutated(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var generator = SeededGenerator(seed: seed)
        let size = [0, 1, 5000, 300_000, 2 << 20][Int(seed) % 5]
        let old = SeededGenerator.noise(size, seed: seed)
        var new = old
        for _ in 0..<4 where !new.isEmpty {
            let place = Int.random(in: 0..<new.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: new[place] ^= 1
            case 1: new.insert(contentsOf: SeededGenerator.noise(100, seed: seed + 9), at: place)
            default: new.removeSubrange(place..<min(place + 50, new.count))
            }
        }
        try folder.write("old", bytes: old)
        try folder.write("new", bytes: new)
        let (former, source, output) = (
            try open(folder["old"]), try open(folder["new"]), try open(folder["output"])
        )
        let normal = ChunkList.normalSize(for: Int64(size))
        let list = try #require(await ChunkList(of: former, size: Int64(size), normal: normal))
        let decoded = try ChunkList(decoding: list.encoded)
        #expect(decoded.chunks.reduce(0) { $0 + $1.length } == size)
        var maker = DeltaMaker(former: decoded)
        var writer = DeltaWriter(former: former, output: output, from: 0, limit: Int64(new.count))
        var sent = 0
        let isWhole = try await maker.run(source, from: 0, to: Int64(new.count)) { step, end in
            sent += step.encoded.count
            let read = try #require(try DeltaStep(step.encoded[...]))
            #expect(read == step)
            #expect(try await writer.write(read) == 0)
            #expect(writer.position == end)
        }
        #expect(isWhole && writer.position == Int64(new.count))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder["output"])) == Data(new))
        if size > 1 << 20 { #expect(sent + list.encoded.count < size / 20, "\(sent) bytes") }
    }

    @Test("steps that make no sense are refused")
    func wrongSteps() async throws {
        let folder = try TemporaryFolder()
        try folder.write("old", "0123456789")
        let (former, output) = (try open(folder["old"]), try open(folder["output"]))
        for step in [
            DeltaStep.copy(offset: 5, length: 6), .copy(offset: 1 << 40, length: 1), .copy(offset: 0, length: 1 << 40),
            .data(Array(repeating: 0, count: 21)),
        ] {
            var writer = DeltaWriter(former: former, output: output, from: 0, limit: 20)
            #expect(try await writer.write(step) == EBADMSG, "\(step)")
        }
        var alone = DeltaWriter(former: nil, output: output, from: 0, limit: 20)
        #expect(try await alone.write(.copy(offset: 0, length: 1)) == EBADMSG)
    }

    @Test("pieces of scans are read as they were written, and any other bytes are an error or a piece")
    func pieces() throws {
        let stamp = FileStamp(size: 1 << 40, modified: -5, changed: .max, inode: .max, device: 7)
        let name = RelativePath(bytes: [0x66, 0xFF, 0x0A, 0x2F, 0x67])
        let metadata = Metadata(mode: 0o7777, owner: .max, group: 1, modified: .min)
        let entry = Observation(path: name, kind: .symbolicLink, metadata: metadata, target: [0x2E], stamp: stamp)
        let bytes = ScanPiece.entry(entry).encoded
        guard case .entry(let read) = try ScanPiece(decoding: bytes[...]) else {
            Issue.record("it is no entry")
            return
        }
        #expect(read == entry)
        for end in bytes.indices { #expect(throws: WireError.self) { try ScanPiece(decoding: bytes[..<end]) } }
        for seed in 0..<2000 {
            let noise = SeededGenerator.noise(40, seed: UInt64(seed))
            _ = try? ScanPiece(decoding: noise[...])
            _ = try? ChunkList(decoding: noise)
            _ = try? DeltaStep(noise[...])
            var frames = FrameReader()
            frames.append(noise)
            while let frame = try? frames.next() { #expect(frame.count <= noise.count) }
        }
    }

    @Test("frames come out whole, in pieces of any size")
    func frames() throws {
        let payloads = [0, 1, 127, 128, 20_000, 1 << 20].map { [UInt8](repeating: 7, count: $0) }
        let bytes = payloads.flatMap(FrameReader.frame)
        for size in [1000, 65_537, bytes.count] {
            var (reader, found) = (FrameReader(), [Int]())
            for start in stride(from: 0, to: bytes.count, by: size) {
                reader.append(bytes[start..<min(start + size, bytes.count)])
                while let frame = try reader.next() { found.append(frame.count) }
            }
            #expect(found == payloads.map(\.count) && reader.isEmpty)
        }
    }
}
