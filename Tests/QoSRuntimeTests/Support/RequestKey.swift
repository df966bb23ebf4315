import ServiceContextModule

/// Something that a program keeps in its service context.
enum RequestKey: ServiceContextKey {
    typealias Value = Int
}

extension ServiceContext {
    /// A context with a request's number.
    static func request(_ number: Int) -> ServiceContext {
        var context = ServiceContext.topLevel
        context[RequestKey.self] = number
        return context
    }

    /// The request that the calling code works for.
    static var currentRequest: Int? { current?[RequestKey.self] }
}
