import Chunking
import SampleTestSupport
import Testing

/// A table from a seed, as the test vectors of the format have it.
private func gear(seed: UInt64) -> GearTable {
    var generator = SeededGenerator(seed: seed)
    return GearTable { _ in generator.next() }
}

private func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
}

private let small = ChunkSizes(minimum: 64, normal: 256, maximum: 1024)

/// All chunks of a stream that arrives in pieces of one size.
private func chunks(_ bytes: [UInt8], pieces: Int, sizes: ChunkSizes = small, seed: UInt64 = 1) -> [[UInt8]] {
    var stream = ChunkStream(Chunker(sizes: sizes, gear: gear(seed: seed)))
    var chunks: [[UInt8]] = []
    for start in stride(from: 0, to: bytes.count, by: pieces) {
        stream.append(Array(bytes[start..<min(start + pieces, bytes.count)]))
        while let chunk = stream.next() { chunks.append(chunk) }
    }
    stream.finish()
    while let chunk = stream.next() { chunks.append(chunk) }
    return chunks
}

/// The same by the definition: one byte at a time.
private func lengthsByDefinition(_ bytes: [UInt8], seed: UInt64 = 1) -> [Int] {
    var generator = SeededGenerator(seed: seed)
    let words = (0...255).map { _ in generator.next() }
    let strict: UInt64 = ((1 << 10) - 1) << (63 - 10)
    let easy: UInt64 = ((1 << 6) - 1) << (63 - 6)
    var lengths: [Int] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        var hash: UInt64 = 0
        var length = min(rest.count, 1024)
        if length > 64 {
            for index in 64..<length {
                hash = (hash << 1) &+ words[Int(rest[rest.startIndex + index])]
                if hash & (index < 256 ? strict : easy) == 0 {
                    length = index + 1
                    break
                }
            }
        }
        lengths.append(length)
        rest = rest.dropFirst(length)
    }
    return lengths
}

@Suite("Content-defined chunks")
struct ChunkerTests {
    @Test("the chunks are those of the definition, and give back the stream", arguments: [1, 2, 3])
    func definition(seed: UInt64) {
        let bytes = noise(60_001, seed: seed)
        let found = chunks(bytes, pieces: 4096)
        #expect(found.map(\.count) == lengthsByDefinition(bytes))
        #expect(Array(found.joined()) == bytes)
        #expect(found.dropLast().allSatisfy { (64...1024).contains($0.count) })
    }

    @Test("the test vector of the format")
    func vector() {
        #expect(chunks(noise(4096, seed: 7), pieces: 4096).map(\.count) == vectorLengths)
    }

    @Test("the sizes of the pieces do not matter", arguments: [1, 63, 1000, 1 << 20])
    func pieces(size: Int) {
        let bytes = noise(20_000, seed: 5)
        #expect(chunks(bytes, pieces: size) == chunks(bytes, pieces: 777))
    }

    @Test("an insertion at the front leaves nearly all chunks as they were")
    func shift() {
        let bytes = noise(200_000, seed: 9)
        let before = Set(chunks(bytes, pieces: 4096))
        let after = chunks([1, 2, 3] + bytes, pieces: 4096)
        let fresh = after.count { !before.contains($0) }
        #expect(fresh <= 6, "\(fresh) of \(after.count) chunks are new")
        #expect(after.count > 400)
    }

    @Test("another key cuts elsewhere")
    func key() {
        let bytes = noise(50_000, seed: 3)
        #expect(chunks(bytes, pieces: 4096) != chunks(bytes, pieces: 4096, seed: 2))
    }

    @Test("zeros have chunks of one size, and nothing has none")
    func extremes() {
        let zeros = chunks([UInt8](repeating: 0, count: 3000), pieces: 500)
        #expect(Set(zeros.dropLast()).count == 1)
        #expect(chunks([], pieces: 1).isEmpty)
        #expect(chunks([1], pieces: 1) == [[1]])
    }

    @Test("most chunks are close to the normal size")
    func distribution() {
        let found = chunks(noise(500_000, seed: 11), pieces: 65536).map(\.count)
        let mean = found.reduce(0, +) / found.count
        #expect((200...500).contains(mean))
    }
}

private let vectorLengths = [344, 315, 346, 267, 294, 266, 265, 345, 351, 329, 411, 404, 159]
