/// A type of operations, used like a subclass.
///
/// ```swift
/// struct Thumbnail: OperationBody {
///     let image: URL
///     func run(_ context: OperationContext) async throws -> Data { … }
/// }
/// let thumbnail = QoSOperation(Thumbnail(image: url))
/// ```
public protocol OperationBody<Value>: Sendable {
    /// The type of the operation's result.
    associatedtype Value: Sendable

    /// The default options of the type's operations.
    var options: OperationOptions { get }

    /// Does the work, once.
    func run(_ context: OperationContext) async throws -> Value
}

extension OperationBody {
    /// The name of the type, and the defaults.
    public var options: OperationOptions { OperationOptions(name: "\(Self.self)") }
}
