/// A type of operations: what one would make a subclass for.
///
/// ```swift
/// struct Thumbnail: OperationBody {
///     let image: URL
///     func run(_ context: OperationContext) async throws -> Data { … }
/// }
/// let thumbnail = QoSOperation(Thumbnail(image: url))
/// ```
public protocol OperationBody<Value>: Sendable {
    /// What the operation returns.
    associatedtype Value: Sendable

    /// How its operations are set up if nothing else is said.
    var options: OperationOptions { get }

    /// Does the work, once.
    func run(_ context: OperationContext) async throws -> Value
}

extension OperationBody {
    /// The name of the type, and the defaults.
    public var options: OperationOptions { OperationOptions(name: "\(Self.self)") }
}
