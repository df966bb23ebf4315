public import QoSCore
import QoSKernel
public import ServiceContextModule

// What a program declares: requests and messages, who may send them, and what travels beside them.

/// A type that travels as the payload of a request or message.
///
/// Both processes declare it, best in a module that they share. On the wire it is named by a hash of ``serviceName``.
public protocol ServicePayload: Codable, Sendable {
    /// The name under which both processes know the type. The default is the type's own name without its module.
    static var serviceName: String { get }

    /// The version of the type, 1 by default. Raise it for a change that the other version cannot read: a field that is
    /// missing and not optional. Fields that a reader does not know are skipped.
    static var serviceVersion: UInt16 { get }
}

extension ServicePayload {
    /// The type's own name without its module.
    public static var serviceName: String { String(describing: Self.self) }

    /// 1.
    public static var serviceVersion: UInt16 { 1 }
}

/// A one-way message.
public protocol ServiceMessage: ServicePayload {}

/// A request, which is answered by a reply or an error.
///
/// ```swift
/// struct Thumbnail: ServiceRequest {
///     typealias Reply = Image
///     let path: String
///     let side: Int
/// }
/// ```
public protocol ServiceRequest: ServicePayload {
    /// The type of the reply.
    associatedtype Reply: Codable & Sendable
}

/// The name of a payload's type on the wire.
struct ServiceType: Sendable, Hashable {
    let name: String
    let version: UInt16
    let id: UInt32

    private static let known = Lock<[ObjectIdentifier: ServiceType]>([:])

    private init(name: String, version: UInt16) {
        (self.name, self.version) = (name, version)
        // FNV-1a of 64 bits, folded.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        id = UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
    }

    static func of<Payload: ServicePayload>(_ type: Payload.Type) -> ServiceType {
        let key = ObjectIdentifier(type)
        if let known = known.withLock({ $0[key] }) { return known }
        // Outside of the lock: the name is the program's code.
        let made = ServiceType(name: type.serviceName, version: type.serviceVersion)
        known.withLock { $0[key] = made }
        return made
    }
}

/// The process at the other end of a connection.
public struct ServicePeer: Sendable, Hashable {
    /// The number of the process that has made the connection or the socket. Another process may have inherited it.
    public let pid: Int32

    /// The user, by the kernel's word.
    public let user: UInt32

    /// The group, by the kernel's word.
    public let group: UInt32
}

/// The peers that a service takes, and the highest level at which it works for them.
///
/// ```swift
/// Service("org.example.thumbnails", allow: [.sameUser, .user(1000, upTo: .utility)])
/// ```
public struct ServiceAccess: Sendable, Hashable, ExpressibleByArrayLiteral {
    enum Rule: Sendable, Hashable {
        case sameUser
        case user(UInt32)
        case group(UInt32)
    }

    struct Entry: Sendable, Hashable {
        var rule: Rule
        var ceiling: QoSLevel?
    }

    let entries: [Entry]

    private init(_ rule: Rule, _ ceiling: QoSLevel?) { entries = [Entry(rule: rule, ceiling: ceiling)] }

    /// Makes a list. The first entry that fits a peer counts.
    public init(arrayLiteral elements: ServiceAccess...) { entries = elements.flatMap(\.entries) }

    /// Peers of the service's own user, at every level.
    public static let sameUser = ServiceAccess(.sameUser, nil)

    /// Peers of the service's own user, up to a level.
    public static func sameUser(upTo ceiling: QoSLevel) -> ServiceAccess { ServiceAccess(.sameUser, ceiling) }

    /// Peers of a user.
    ///
    /// - Parameters:
    ///   - id: The number of the user.
    ///   - ceiling: The highest level of their work; `nil` for no limit.
    public static func user(_ id: UInt32, upTo ceiling: QoSLevel? = nil) -> ServiceAccess {
        ServiceAccess(.user(id), ceiling)
    }

    /// Peers of a group, by their primary or a supplementary group.
    ///
    /// - Parameters:
    ///   - id: The number of the group.
    ///   - ceiling: The highest level of their work; `nil` for no limit.
    public static func group(_ id: UInt32, upTo ceiling: QoSLevel? = nil) -> ServiceAccess {
        ServiceAccess(.group(id), ceiling)
    }

    /// Whether peers of other users may be taken.
    var admitsOthers: Bool { entries.contains { $0.rule != .sameUser } }

    /// Returns the entry that takes a peer; `nil` for a peer that is not taken.
    func entry(for peer: ServicePeer, groups: [UInt32], ownUser: UInt32) -> Entry? {
        entries.first { entry in
            switch entry.rule {
            case .sameUser: peer.user == ownUser
            case .user(let id): peer.user == id
            case .group(let id): peer.group == id || groups.contains(id)
            }
        }
    }
}

/// The most that a service or session takes from one peer. Its peers are told, and wait.
public struct ServiceLimits: Sendable, Hashable {
    /// The size of a message or reply in bytes, 1…2³⁰. 1 MiB by default.
    public var messageBytes: Int {
        didSet { messageBytes = min(max(messageBytes, 1), 1 << 30) }
    }

    /// Requests and messages that are in flight on one connection, 1…4096. 64 by default.
    public var requests: Int {
        didSet { requests = min(max(requests, 1), 4_096) }
    }

    /// Their bytes, 1…2³⁰. 1 MiB by default. A larger message is refused, whatever ``messageBytes`` is.
    public var bytesInFlight: Int {
        didSet { bytesInFlight = min(max(bytesInFlight, 1), 1 << 30) }
    }

    /// Connections of one user, 1 at least. 64 by default.
    public var connectionsPerUser: Int {
        didSet { connectionsPerUser = max(connectionsPerUser, 1) }
    }

    /// Makes the default limits.
    public init() {
        (messageBytes, requests, bytesInFlight, connectionsPerUser) = (1 << 20, 64, 1 << 20, 64)
    }

    var wire: WireLimits { WireLimits(messageBytes: messageBytes, requests: requests, bytes: bytesInFlight) }
}

/// Carries values of the service context to another process (rule X1).
///
/// Both sides register the same propagators. All keys and values of a request have room in some 4 KiB; the rest is left
/// out.
///
/// ```swift
/// let tenant = ServicePropagator { context, fields in
///     fields["tenant"] = context.tenant
/// } extract: { fields, context in
///     context.tenant = fields["tenant"]
/// }
/// ```
public struct ServicePropagator: Sendable {
    let inject: @Sendable (ServiceContext, inout [String: String]) -> Void
    let extract: @Sendable ([String: String], inout ServiceContext) -> Void

    /// Makes a propagator.
    ///
    /// - Parameters:
    ///   - inject: Writes values of a context into fields. A key has 255 bytes at most. Called at each `send` within a
    ///     service context.
    ///   - extract: Reads them back. Called for each request that has fields. They are the peer's word.
    public init(
        inject: @escaping @Sendable (ServiceContext, inout [String: String]) -> Void,
        extract: @escaping @Sendable ([String: String], inout ServiceContext) -> Void
    ) {
        (self.inject, self.extract) = (inject, extract)
    }
}

/// A request or message from the view of its handler.
public struct ServiceCall: Sendable {
    /// The sender's process.
    public let peer: ServicePeer

    /// The level at which the handler began: the sender's, up to the peer's ceiling (rule M2). `QoS.currentLevel` is
    /// also raised later.
    public let level: QoSLevel

    /// The time at which the sender gives up; `nil` for never. The handler's task is cancelled then. Requests that the
    /// handler sends have this deadline too.
    public let deadline: ContinuousClock.Instant?

    /// The activity of the sender, for diagnostics; `nil` for none. The number counts in the sender's process. The
    /// handler runs in an activity that continues it: `QoS.activity`.
    public let activity: (id: UInt64, reason: String)?

    /// The connection on which the call came, to send requests the other way. Closing it ends the connection.
    public let session: ServiceSession
}

/// The importance of a service for its peers (rule M3).
public struct ServiceImportance: Sendable, Hashable {
    /// The holds of one connection.
    public struct Holder: Sendable, Hashable {
        /// The process that needs the service.
        public let peer: ServicePeer

        /// The requests and messages above background that are in flight, or whose work goes on.
        public let requests: Int

        /// The scopes of ``ServiceSession/withImportance(_:)``, 65,535 at most.
        public let scopes: Int
    }

    /// Whether the service's scheduler is clamped to background. If other services on the same scheduler clamp it too,
    /// it is clamped while no peer needs any of them.
    public let isClamped: Bool

    /// The connections whose peers hold something, by process number.
    public let holders: [Holder]
}

/// The handlers of one side, by the types that they take.
public struct ServiceHandlers: Sendable {
    struct Handler: Sendable {
        let type: ServiceType
        let isMessage: Bool
        let run: @Sendable ([UInt8], ServiceCall) async throws -> [UInt8]
    }

    private(set) var table: [UInt32: Handler] = [:]

    /// Makes an empty table.
    public init() {}

    var types: [UInt32: UInt16] { table.mapValues(\.type.version) }

    /// Sets the handler of a request.
    ///
    /// - Precondition: No other type has the same hash of its name, and there are 2048 types at most.
    public mutating func on<Request: ServiceRequest>(
        _ type: Request.Type,
        _ handler: @escaping @Sendable (Request, ServiceCall) async throws -> Request.Reply
    ) {
        add(ServiceType.of(type), isMessage: false) { payload, call in
            let reply = try await handler(try Unreadable.decode(Request.self, from: payload), call)
            return try CBOREncoding.encode(reply)
        }
    }

    /// Sets the handler of a one-way message. Messages are handled at the same time, in no order.
    ///
    /// - Precondition: As for requests.
    public mutating func on<Message: ServiceMessage>(
        _ type: Message.Type, _ handler: @escaping @Sendable (Message, ServiceCall) async throws -> Void
    ) {
        add(ServiceType.of(type), isMessage: true) { payload, call in
            try await handler(try Unreadable.decode(Message.self, from: payload), call)
            return []
        }
    }

    private mutating func add(
        _ type: ServiceType, isMessage: Bool, _ run: @escaping @Sendable ([UInt8], ServiceCall) async throws -> [UInt8]
    ) {
        if let other = table[type.id], other.type.name != type.name {
            preconditionFailure("'\(type.name)' and '\(other.type.name)' have the same hash: rename one")
        }
        table[type.id] = Handler(type: type, isMessage: isMessage, run: run)
        precondition(table.count <= WireHello.maximumTypes, "a side handles \(WireHello.maximumTypes) types at most")
    }
}

/// A payload that is no value of its type.
struct Unreadable: Error {
    let text: String

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        do {
            return try CBOREncoding.decode(type, from: bytes)
        } catch {
            throw Unreadable(text: "\(type): \(error)")
        }
    }
}
