import QoSCore

// The frames of the wire: their header, their kinds, and the parser that cuts a byte stream into frames.
//
// A byte stream carries frames one after another. Each begins with a header of 24 bytes, little-endian:
//
//   offset  bytes  field
//        0      4  length of the content behind the header, 0…16,384
//        4      1  kind
//        5      1  class (9, 17, 21, 25, 33)
//        6      1  relative priority, −15…0
//        7      1  flags
//        8      8  request number; credits count messages here, holds themselves
//       16      4  type; credits count bytes here
//       20      2  length of the context, a prefix of the content
//       22      1  number of descriptors, 0 in version 1
//       23      1  0
//
// A message that is longer than a frame goes as several: the first frame has the flag `more`, frames of the kind `chunk`
// follow. Frames of other messages may stand in between. So an urgent frame waits for 16 KiB at most.
//
// The parser never keeps more than one frame. It checks the header before it waits for the content, so a length that
// lies costs nothing. It has no other state, and no input makes it trap.

/// The kinds of frames. The raw values stand on the wire.
enum FrameKind: UInt8, Sendable, Hashable, CaseIterable {
    /// The first frame of each side: version, limits and known types.
    case hello = 1
    /// Asks for exactly one `reply` or `error`.
    case request = 2
    /// One way. Its handler's end is answered with `credit`.
    case message = 3
    case reply = 4
    case error = 5
    /// The requester no longer waits. The request is still answered.
    case cancel = 6
    /// The requester's level has risen.
    case raise = 7
    /// The number of the sender's explicit holds has changed (rule M3). A side of before them ignores it.
    case hold = 8
    /// Messages have ended: their count and bytes may be sent again.
    case credit = 9
    /// Continues a request, message or reply.
    case chunk = 10
    /// The last frame of a side, with a reason.
    case goodbye = 11
    case ping = 12
}

struct FrameFlags: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    /// Chunks follow.
    static let more = FrameFlags(rawValue: 1)
    /// The chunk belongs to the reply of a request of the receiver.
    static let ofReply = FrameFlags(rawValue: 2)
    /// The failed request has certainly not begun.
    static let notBegun = FrameFlags(rawValue: 4)
    /// The ping answers one.
    static let answer = FrameFlags(rawValue: 8)

    static let known: FrameFlags = [.more, .ofReply, .notBegun, .answer]
}

/// One frame.
struct Frame: Sendable, Hashable {
    /// Bytes of a header.
    static let headerLength = 24
    /// Most bytes of a frame's content.
    static let maximumContent = 16_384

    var kind: FrameKind
    var level: QoSLevel = .default
    var flags: FrameFlags = []
    var number: UInt64 = 0
    var type: UInt32 = 0
    /// Bytes of ``content`` that are the context.
    var contextLength = 0
    var content: [UInt8] = []

    /// Appends the frame's bytes. The content has at most ``maximumContent`` bytes.
    func write(to bytes: inout [UInt8]) {
        Frame.writeHeader(
            kind, level: level, flags: flags, number: number, type: type, contextLength: contextLength,
            contentLength: content.count, to: &bytes)
        bytes.append(contentsOf: content)
    }

    static func writeHeader(
        _ kind: FrameKind, level: QoSLevel, flags: FrameFlags, number: UInt64, type: UInt32, contextLength: Int,
        contentLength: Int, to bytes: inout [UInt8]
    ) {
        bytes.appendLittleEndian(UInt32(truncatingIfNeeded: contentLength))
        bytes.append(kind.rawValue)
        bytes.append(level.qosClass.rawValue)
        bytes.append(UInt8(bitPattern: Int8(truncatingIfNeeded: level.relativePriority.rawValue)))
        bytes.append(flags.rawValue)
        bytes.appendLittleEndian(number)
        bytes.appendLittleEndian(type)
        bytes.appendLittleEndian(UInt16(truncatingIfNeeded: contextLength))
        bytes.append(0)
        bytes.append(0)
    }
}

/// The reason for which input is refused.
enum WireViolation: String, Error, Sendable, Hashable, CaseIterable {
    case unknownKind, badLevel, badFlags, tooLong, badContext, unexpectedDescriptors, badReserved
    case noHello, secondHello, badHello, badNumber, unknownNumber, tooManyRequests, tooManyBytes, unexpectedChunk
    case badContent
}

/// Cuts a byte stream into frames. The stream may be cut anywhere.
struct FrameParser: Sendable {
    private var header: [UInt8] = []
    private var frame: Frame?
    private var missing = 0

    /// Whether the bytes so far end within a frame.
    var isWithinFrame: Bool { !header.isEmpty || frame != nil }

    /// Takes bytes and calls a body with each complete frame. Keeps less than a frame.
    ///
    /// - Throws: ``WireViolation`` for the first bytes that are no frame, or the body's error. Do not use the parser
    ///   afterwards.
    mutating func take(
        _ bytes: ArraySlice<UInt8>, _ body: (Frame) throws(WireViolation) -> Void
    ) throws(WireViolation) {
        var rest = bytes
        while true {
            if var current = frame.take() {
                let piece = rest.prefix(missing)
                current.content.append(contentsOf: piece)
                missing -= piece.count
                rest = rest.dropFirst(piece.count)
                if missing > 0 {
                    frame = current
                    return
                }
                try body(current)
            }
            if rest.isEmpty { return }
            let piece = rest.prefix(Frame.headerLength - header.count)
            header.append(contentsOf: piece)
            rest = rest.dropFirst(piece.count)
            if header.count < Frame.headerLength { return }
            (frame, missing) = try Self.parse(header)
            header.removeAll(keepingCapacity: true)
        }
    }

    /// Reads a header of 24 bytes.
    private static func parse(_ header: [UInt8]) throws(WireViolation) -> (Frame, contentLength: Int) {
        let bytes = header[...]
        let length: UInt32 = bytes.littleEndian(at: 0)
        guard length <= Frame.maximumContent else { throw .tooLong }
        guard let kind = FrameKind(rawValue: bytes[4]) else { throw .unknownKind }
        let relative = Int(Int8(bitPattern: bytes[6]))
        guard let qosClass = QoSClass(rawValue: bytes[5]), RelativePriority.range.contains(relative) else {
            throw .badLevel
        }
        let flags = FrameFlags(rawValue: bytes[7])
        guard flags.isSubset(of: .known) else { throw .badFlags }
        let context: UInt16 = bytes.littleEndian(at: 20)
        guard context <= length else { throw .badContext }
        guard bytes[22] == 0 else { throw .unexpectedDescriptors }
        guard bytes[23] == 0 else { throw .badReserved }
        let frame = Frame(
            kind: kind, level: QoSLevel(qosClass, relativePriority: RelativePriority(clamping: relative)),
            flags: flags, number: bytes.littleEndian(at: 8), type: bytes.littleEndian(at: 16),
            contextLength: Int(context))
        return (frame, Int(length))
    }
}

// MARK: - Bytes

extension [UInt8] {
    mutating func appendLittleEndian<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
        var rest = number
        for _ in 0..<(Number.bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}

extension ArraySlice<UInt8> {
    /// Returns a number at an offset from the start. There are enough bytes: the caller has checked.
    func littleEndian<Number: FixedWidthInteger & UnsignedInteger>(at offset: Int) -> Number {
        var number: Number = 0
        for index in stride(from: Number.bitWidth / 8 - 1, through: 0, by: -1) {
            number = (number << 8) | Number(truncatingIfNeeded: self[startIndex + offset + index])
        }
        return number
    }
}
