/// A state of the live view in pieces, so that a client which has the state before gets only what changed. A pure value.
///
/// Most of a state is the same a second later: of two hundred items perhaps one has moved. A list goes by the names of
/// its entries, everything else as a whole.
struct LivePicture: Sendable, Equatable {
    /// An entry of a list: its name, the text that decides whether it changed, and the text that is sent.
    struct Entry: Sendable, Equatable {
        let name: String
        let key: String
        let text: String
    }

    /// The whole state as JSON, for clients without the one before.
    let whole: String
    /// The parts that are sent as a whole, as JSON by their keys.
    private let values: [String: String]
    /// The lists, by their keys.
    private let lists: [String: [Entry]]

    /// Takes a state apart.
    init(_ response: LiveResponse) throws {
        whole = try JSONResponse.text(response)
        values = [
            "may_act": try JSONResponse.text(response.mayAct), "complete": try JSONResponse.text(response.complete),
            "lanes": try JSONResponse.text(response.lanes), "edges": try JSONResponse.text(response.edges),
            "now": try JSONResponse.text(response.requests.now),
        ]
        lists = [
            "items": try response.items.map { item in
                // The time of a wait grows by itself.
                var still = item
                still.waiting = nil
                return Entry(
                    name: "\(item.id)", key: try JSONResponse.text(still), text: try JSONResponse.text(item))
            },
            "points": try response.requests.points.map { try Self.entry("\($0.step)", $0) },
            "runs": try response.runs.map { try Self.entry("\($0.item) \(JSONResponse.text($0.begin))", $0) },
            "conditions": try (response.conditions ?? []).map { try Self.entry($0.label, $0) },
        ]
    }

    private static func entry(_ name: String, _ value: some Encodable) throws -> Entry {
        let text = try JSONResponse.text(value)
        return Entry(name: name, key: text, text: text)
    }

    /// Returns what changed since another state, as JSON:
    /// `{"values": {KEY: VALUE}, "lists": {KEY: {"set": {NAME: ENTRY}, "order": [NAME]}}}`.
    ///
    /// `order` has all names if one was added, moved or removed, and is missing if not.
    func changes(since old: LivePicture) -> String {
        let changed = values.filter { old.values[$0.key] != $0.value }.sorted { $0.key < $1.key }
        let parts = lists.sorted { $0.key < $1.key }.compactMap { key, entries -> String? in
            let before = old.lists[key] ?? []
            guard entries.map(\.key) != before.map(\.key) || entries.map(\.name) != before.map(\.name) else {
                return nil
            }
            let known = Dictionary(before.map { ($0.name, $0.key) }, uniquingKeysWith: { $1 })
            let set = entries.filter { known[$0.name] != $0.key }.map { "\(Self.quoted($0.name)):\($0.text)" }
            let names = entries.map(\.name)
            let order =
                names == before.map(\.name) ? "" : ",\"order\":[\(names.map(Self.quoted).joined(separator: ","))]"
            return "\"\(key)\":{\"set\":{\(set.joined(separator: ","))}\(order)}"
        }
        return "{\"values\":{\(changed.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))},"
            + "\"lists\":{\(parts.joined(separator: ","))}}"
    }

    private static func quoted(_ name: String) -> String { (try? JSONResponse.text(name)) ?? "\"\"" }
}
