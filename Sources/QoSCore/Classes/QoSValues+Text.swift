// Text forms: `utility`, `utility-3`. They are what logs, tables, configuration files and JSON use.

extension QoSClass: CustomStringConvertible, LosslessStringConvertible {
    /// The name of the class, as in Swift code.
    public var description: String {
        switch self {
        case .userInteractive: "userInteractive"
        case .userInitiated: "userInitiated"
        case .default: "default"
        case .utility: "utility"
        case .background: "background"
        }
    }

    /// Makes the class with a name; `nil` without one. ``init(parsing:)`` throws an error that lists the names.
    public init?(_ description: String) {
        guard let found = Self.allCases.first(where: { $0.description == description }) else { return nil }
        self = found
    }

    /// Makes the class with a name.
    ///
    /// - Throws: ``QoSValueError`` that lists the names.
    public init(parsing text: String) throws(QoSValueError) {
        guard let found = Self(text) else { throw .unknownClass(text) }
        self = found
    }
}

extension QoSLevel: CustomStringConvertible, LosslessStringConvertible {
    /// The class, with the relative priority if it is not 0: `utility-3`.
    public var description: String {
        relativePriority == .normal ? qosClass.description : "\(qosClass)\(relativePriority)"
    }

    /// Makes a level from its text form; `nil` for another text. ``init(parsing:)`` throws an error that names the
    /// form.
    public init?(_ description: String) {
        try? self.init(parsing: description)
    }

    /// Makes a level from its text form: a class, optionally followed by a relative priority (`background-15`).
    ///
    /// - Throws: ``QoSValueError`` that names the accepted texts.
    public init(parsing text: String) throws(QoSValueError) {
        guard let dash = text.firstIndex(of: "-") else {
            self.init(try QoSClass(parsing: text))
            return
        }
        let digits = text[text.index(after: dash)...]
        guard
            let qosClass = QoSClass(String(text[..<dash])),
            !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let magnitude = Int(digits)
        else { throw .malformedLevel(text) }
        try self.init(qosClass, relativePriority: -magnitude)
    }
}

extension QoSClass: Codable {
    /// Reads the name of a class.
    public init(from decoder: any Decoder) throws {
        self = try decodeText(from: decoder) { text throws(QoSValueError) in try QoSClass(parsing: text) }
    }

    /// Writes the name of the class.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension QoSLevel: Codable {
    /// Reads the text form of a level.
    public init(from decoder: any Decoder) throws {
        self = try decodeText(from: decoder) { text throws(QoSValueError) in try QoSLevel(parsing: text) }
    }

    /// Writes the text form of the level.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

private func decodeText<Value>(
    from decoder: any Decoder,
    parse: (String) throws(QoSValueError) -> Value
) throws -> Value {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do throws(QoSValueError) {
        return try parse(text)
    } catch {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
    }
}
