import QoSCore
import QoSTesting
import Testing

@testable import QoSMessages

@Suite("Frames: a byte stream that is cut anywhere")
struct FrameTests {
    static func randomFrame(_ random: inout SeededGenerator) -> Frame {
        let content = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        return Frame(
            kind: FrameKind.allCases.randomElement(using: &random) ?? .ping,
            level: QoSLevel(
                QoSClass.allCases.randomElement(using: &random) ?? .default,
                relativePriority: RelativePriority(clamping: Int.random(in: -15...0, using: &random))),
            flags: FrameFlags(rawValue: UInt8.random(in: 0...15, using: &random)),
            number: UInt64.random(in: 0...UInt64.max, using: &random),
            type: UInt32.random(in: 0...UInt32.max, using: &random),
            contextLength: Int.random(in: 0...content.count, using: &random), content: content)
    }

    @Test("the header is 24 bytes, as on the page")
    func header() {
        var bytes: [UInt8] = []
        Frame(
            kind: .request, level: QoSLevel(.utility, relativePriority: RelativePriority(clamping: -2)), flags: .more,
            number: 0x0102, type: 0x0A0B_0C0D, contextLength: 1, content: [7, 8, 9]
        ).write(to: &bytes)
        #expect(
            bytes == [
                3, 0, 0, 0, 2, 17, 254, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0x0D, 0x0C, 0x0B, 0x0A, 1, 0, 0, 0, 7, 8, 9,
            ])
    }

    @Test("the same frames come out, wherever the stream is cut", arguments: 0..<64)
    func cuts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let frames = (0..<50).map { _ in Self.randomFrame(&random) }
        var bytes: [UInt8] = []
        for frame in frames { frame.write(to: &bytes) }
        var parser = FrameParser()
        var seen: [Frame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...60, using: &random))
            rest = rest.dropFirst(piece.count)
            try parser.take(piece) { (frame) throws(WireViolation) in seen.append(frame) }
        }
        #expect(seen == frames)
        #expect(!parser.isWithinFrame)
    }

    @Test("a header that lies is refused before its content")
    func lies() {
        func refusal(_ change: (inout [UInt8]) -> Void) -> WireViolation? {
            var bytes: [UInt8] = []
            Frame(kind: .request, number: 1).write(to: &bytes)
            change(&bytes)
            var parser = FrameParser()
            do {
                try parser.take(bytes[...]) { (_: Frame) throws(WireViolation) in }
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0[3] = 255 } == .tooLong)
        #expect(
            refusal {
                $0[1] = 0x40
                $0[0] = 1
            } == .tooLong)
        #expect(refusal { $0[4] = 0 } == .unknownKind)
        #expect(refusal { $0[4] = 13 } == .unknownKind)
        #expect(refusal { $0[5] = 0 } == .badLevel)
        #expect(refusal { $0[6] = 1 } == .badLevel)
        #expect(refusal { $0[6] = 128 } == .badLevel)
        #expect(refusal { $0[7] = 16 } == .badFlags)
        #expect(refusal { $0[20] = 1 } == .badContext)
        #expect(refusal { $0[22] = 1 } == .unexpectedDescriptors)
        #expect(refusal { $0[23] = 1 } == .badReserved)
    }

    @Test("the context comes back, and any bytes in its place are refused or read", arguments: 0..<32)
    func context(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let context = WireContext(
            remaining: 5, origin: .init(id: 7, reason: "ü"),
            baggage: ["a": "1", "trace": String(repeating: "x", count: 60)])
        #expect(try WireContext(context.content[...]) == context)
        var large = context
        for index in 0..<200 { large.baggage["key\(index)"] = String(repeating: "y", count: 50) }
        #expect(large.content.count <= WireContext.maximumLength)
        #expect(try WireContext(large.content[...]).remaining == 5)
        for _ in 0..<500 {
            var bytes = context.content
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = try? WireContext(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            _ = try? WireHello(bytes)
            _ = try? WireFailure(bytes)
        }
    }
}
