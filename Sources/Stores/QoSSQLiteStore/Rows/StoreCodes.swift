#if SQLite
internal import FoundationEssentials
internal import GRDB
internal import QoSCore
internal import QoSWorkloads

/// The numbers and texts that stand for values in the tables.
enum StoreCodes {
    static let states: [WorkloadState] = [
        .scheduled, .blocked, .deferred, .ready, .running, .finished, .cancelled, .dead,
    ]

    static func code(of state: WorkloadState) -> Int64 {
        switch state {
        case .scheduled: 0
        case .blocked: 1
        case .deferred: 2
        case .ready: 3
        case .running: 4
        case .finished: 5
        case .cancelled: 6
        case .dead: 7
        }
    }

    static func state(_ code: Int64) throws -> WorkloadState {
        guard states.indices.contains(Int(clamping: code)) else { throw damage("state \(code)") }
        return states[Int(code)]
    }

    static func code(of level: QoSLevel) -> Int64 {
        Int64(level.qosClass.rank * 16 + 15 + level.relativePriority.rawValue)
    }

    static func level(_ code: Int64) throws -> QoSLevel {
        guard let qosClass = QoSClass(rank: Int(clamping: code / 16)) else { throw damage("level \(code)") }
        return QoSLevel(qosClass, relativePriority: RelativePriority(clamping: Int(code % 16) - 15))
    }

    /// The codes of the levels of a class.
    static func levels(of qosClass: QoSClass) -> ClosedRange<Int64> {
        Int64(qosClass.rank * 16)...Int64(qosClass.rank * 16 + 15)
    }

    /// The codes of the levels of some classes, the highest first. Classes that are neighbors share a range, so that all
    /// classes need one look into the index.
    static func levels(of classes: Set<QoSClass>) -> [ClosedRange<Int64>] {
        var ranges: [ClosedRange<Int64>] = []
        for qosClass in QoSClass.descending where classes.contains(qosClass) {
            let levels = levels(of: qosClass)
            if let last = ranges.last, levels.upperBound + 1 == last.lowerBound {
                ranges[ranges.count - 1] = levels.lowerBound...last.upperBound
            } else {
                ranges.append(levels)
            }
        }
        return ranges
    }

    /// A list of items as JSON, which the database reads with `json_each`.
    static func list(of ids: [WorkloadItemID]) -> String {
        "[" + ids.map { "\($0.rawValue)" }.joined(separator: ",") + "]"
    }

    /// The sign between the name of a host and its process: U+001F, "unit separator".
    private static let separator: Character = "\u{1F}"

    /// The holder of a lease as one text: the host's name, and its process behind a separator.
    ///
    /// A name without a process is the whole text, as older versions of the program write it.
    static func text(ofHost host: String, in process: String?) -> String {
        process == nil && !host.contains(separator) ? host : "\(host)\(separator)\(process ?? "")"
    }

    /// The host and the process of a holder's text.
    static func holder(_ text: String) -> (host: String, process: String?) {
        guard let end = text.lastIndex(of: separator) else { return (text, nil) }
        let process = text[text.index(after: end)...]
        return (String(text[..<end]), process.isEmpty ? nil : String(process))
    }

    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        // The same value gives the same text.
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch { throw damage("\(error)") }
    }

    /// The conditions as text, the same for the same set.
    static func encode(_ conditions: Set<WorkloadCondition>) throws -> String {
        guard !conditions.isEmpty else { return "[]" }
        return "[" + (try conditions.map { try encode($0) }.sorted().joined(separator: ",")) + "]"
    }

    /// The error of a row that no version of the program writes.
    static func damage(_ what: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row that makes no sense: \(what)")
    }
}
#endif
