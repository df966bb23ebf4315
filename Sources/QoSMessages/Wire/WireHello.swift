import QoSCore

// The contents of the frames that are no payload: hello, error, goodbye, and the context of a request.
//
// All are read with checks of each length. Fields that a reader does not know are skipped, so a later version can add
// some.

/// The limits that a side states in its hello, for its peer to keep.
struct WireLimits: Sendable, Hashable {
    /// Most bytes of a message: context and payload together.
    var messageBytes = 1 << 20
    /// Most requests and messages in flight.
    var requests = 64
    /// Most bytes of requests and messages in flight.
    var bytes = 1 << 20

    /// Most bytes of a message to a peer with these limits.
    var largestMessage: Int { min(messageBytes, bytes) }
}

/// The content of a hello.
struct WireHello: Sendable, Hashable {
    static let magic: UInt32 = 0x4D53_6F51
    static let version: UInt16 = 1
    /// Most types of a side.
    static let maximumTypes = 2_048

    var version = WireHello.version
    var limits = WireLimits()
    /// The version of each type that this side handles.
    var types: [UInt32: UInt16] = [:]

    var content: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(Self.magic)
        bytes.appendLittleEndian(version)
        bytes.appendLittleEndian(UInt16(clamping: types.count))
        bytes.appendLittleEndian(UInt32(clamping: limits.messageBytes))
        bytes.appendLittleEndian(UInt32(clamping: limits.requests))
        bytes.appendLittleEndian(UInt32(clamping: limits.bytes))
        for (type, version) in types.sorted(by: { $0.key < $1.key }) {
            bytes.appendLittleEndian(type)
            bytes.appendLittleEndian(version)
        }
        return bytes
    }

    init(limits: WireLimits = WireLimits(), types: [UInt32: UInt16] = [:]) {
        (self.limits, self.types) = (limits, types)
    }

    /// Reads a hello. A hello of another version has only the magic number and the version in common with this one.
    init(_ content: [UInt8]) throws(WireViolation) {
        let bytes = content[...]
        guard bytes.count >= 6, bytes.littleEndian(at: 0) as UInt32 == Self.magic else { throw .badHello }
        version = bytes.littleEndian(at: 4)
        if version != Self.version { return }
        guard bytes.count >= 20 else { throw .badHello }
        let count = Int(bytes.littleEndian(at: 6) as UInt16)
        limits.messageBytes = Int(bytes.littleEndian(at: 8) as UInt32)
        limits.requests = Int(bytes.littleEndian(at: 12) as UInt32)
        limits.bytes = Int(bytes.littleEndian(at: 16) as UInt32)
        guard count <= Self.maximumTypes, bytes.count >= 20 + 6 * count, limits.requests > 0, limits.largestMessage > 0
        else { throw .badHello }
        for index in 0..<count {
            types[bytes.littleEndian(at: 20 + 6 * index)] = bytes.littleEndian(at: 24 + 6 * index)
        }
    }
}

/// The end of a request, or of a connection, as it stands on the wire.
struct WireFailure: Sendable, Hashable {
    /// The raw values stand on the wire. A reader takes one that it does not know for `failed`.
    enum Code: UInt8, Sendable, Hashable, CaseIterable {
        /// The handler has thrown an error.
        case failed = 1
        case unknownRequest = 2
        case cancelled = 3
        case timedOut = 4
        /// The reply is larger than the requester takes.
        case tooLarge = 5
        /// The payload is not that of the type.
        case unreadable = 6
        /// The peer is not allowed, or has too many connections.
        case refused = 7
        /// The peer's version of the wire is another one.
        case incompatible = 8
        /// The side ends in order.
        case ending = 9
        /// The peer has broken the protocol.
        case violation = 10
        /// The peer has not said hello, or has taken no bytes for too long.
        case tooSlow = 11
    }

    /// Most bytes of the text.
    static let maximumText = 1_024

    var code: Code
    /// The program's own number for an error of a handler.
    var number: Int32 = 0
    var text = ""

    var content: [UInt8] {
        var bytes = [code.rawValue]
        bytes.appendLittleEndian(UInt32(bitPattern: number))
        bytes.append(contentsOf: text.utf8.prefix(Self.maximumText))
        return bytes
    }

    init(_ code: Code, number: Int32 = 0, _ text: String = "") {
        (self.code, self.number, self.text) = (code, number, text)
    }

    init(_ content: [UInt8]) throws(WireViolation) {
        guard content.count >= 5 else { throw .badContent }
        code = Code(rawValue: content[0]) ?? .failed
        number = Int32(bitPattern: content[...].littleEndian(at: 1))
        text = String(decoding: content.dropFirst(5).prefix(Self.maximumText), as: UTF8.self)
    }
}

/// The context that travels with a request or message (rule X1).
///
/// On the wire it is a list of fields: a tag of one byte, a length of two, the bytes.
struct WireContext: Sendable, Hashable {
    /// Most bytes of a context.
    static let maximumLength = 4_096

    private enum Tag: UInt8 {
        case deadline = 1
        case activity = 2
        case baggage = 3
    }

    /// The activity of the sender.
    struct Origin: Sendable, Hashable {
        var id: UInt64
        var reason: String
    }

    /// The time that is left, in nanoseconds.
    var remaining: UInt64?
    var origin: Origin?
    /// Keys and values of the registered propagators.
    var baggage: [String: String] = [:]

    init(remaining: UInt64? = nil, origin: Origin? = nil, baggage: [String: String] = [:]) {
        (self.remaining, self.origin, self.baggage) = (remaining, origin, baggage)
    }

    /// Whether there is nothing to send.
    var isEmpty: Bool { remaining == nil && origin == nil && baggage.isEmpty }

    /// The fields as bytes. Fields that find no place in ``maximumLength`` are left out.
    var content: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ tag: Tag, _ field: [UInt8]) {
            guard bytes.count + 3 + field.count <= Self.maximumLength else { return }
            bytes.append(tag.rawValue)
            bytes.appendLittleEndian(UInt16(clamping: field.count))
            bytes.append(contentsOf: field)
        }
        if let remaining {
            var field: [UInt8] = []
            field.appendLittleEndian(remaining)
            add(.deadline, field)
        }
        if let origin {
            var field: [UInt8] = []
            field.appendLittleEndian(origin.id)
            field.append(contentsOf: origin.reason.utf8.prefix(256))
            add(.activity, field)
        }
        for (key, value) in baggage.sorted(by: { $0.key < $1.key }) where key.utf8.count <= 255 {
            add(.baggage, [UInt8(key.utf8.count)] + key.utf8 + value.utf8)
        }
        return bytes
    }

    init(_ content: ArraySlice<UInt8>) throws(WireViolation) {
        guard content.count <= Self.maximumLength else { throw .badContext }
        var rest = content
        while !rest.isEmpty {
            guard rest.count >= 3 else { throw .badContext }
            let tag = rest[rest.startIndex]
            let length = Int(rest.littleEndian(at: 1) as UInt16)
            rest = rest.dropFirst(3)
            guard rest.count >= length else { throw .badContext }
            try read(tag, rest.prefix(length))
            rest = rest.dropFirst(length)
        }
    }

    private mutating func read(_ tag: UInt8, _ field: ArraySlice<UInt8>) throws(WireViolation) {
        switch Tag(rawValue: tag) {
        case .deadline:
            guard field.count == 8 else { throw .badContext }
            remaining = field.littleEndian(at: 0)
        case .activity:
            guard field.count >= 8 else { throw .badContext }
            origin = Origin(
                id: field.littleEndian(at: 0), reason: String(decoding: field.dropFirst(8).prefix(256), as: UTF8.self))
        case .baggage:
            guard let length = field.first, field.count > Int(length) else { throw .badContext }
            let (key, value) = (field.dropFirst().prefix(Int(length)), field.dropFirst(1 + Int(length)))
            baggage[String(decoding: key, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
        case nil: break
        }
    }
}
