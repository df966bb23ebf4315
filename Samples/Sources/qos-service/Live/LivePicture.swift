/// A state of the live view in pieces, so that a client which has the state before gets only what changed. A pure value.
///
/// Most of a state is the same a second later: of two hundred items perhaps one has moved. A list goes by the names of
/// its entries, everything else as a whole.
struct LivePicture: Sendable {
    /// An entry of a list: its name, and the text that decides whether it changed.
    private struct Entry: Sendable {
        let name: String
        let key: String
    }

    private let response: LiveResponse
    /// The parts that are sent as a whole, as JSON by their keys.
    private let values: [String: String]
    /// The lists, by their keys.
    private let lists: [String: [Entry]]

    /// Takes a state apart.
    init(_ response: LiveResponse) throws {
        self.response = response
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
                return Entry(name: "\(item.id)", key: try JSONResponse.text(still))
            },
            "points": try response.requests.points.map { Entry(name: "\($0.step)", key: try JSONResponse.text($0)) },
            "runs": try response.runs.map { run in
                Entry(name: "\(run.item) \(try JSONResponse.text(run.begin))", key: try JSONResponse.text(run))
            },
            "conditions": try (response.conditions ?? []).map { Entry(name: $0.label, key: try JSONResponse.text($0)) },
        ]
    }

    /// Returns what changed since another state, as JSON:
    /// `{"values": {KEY: VALUE}, "lists": {KEY: {"set": {NAME: ENTRY}, "order": [NAME]}}}`.
    ///
    /// `order` has all names if one was added, moved or removed, and is missing if not.
    func changes(since old: LivePicture) throws -> String {
        let changed = values.filter { old.values[$0.key] != $0.value }.sorted { $0.key < $1.key }
        let parts = try lists.sorted { $0.key < $1.key }.compactMap { key, entries -> String? in
            let before = old.lists[key] ?? []
            let known = Dictionary(before.map { ($0.name, $0.key) }, uniquingKeysWith: { $1 })
            let isSameOrder = entries.map(\.name) == before.map(\.name)
            let set = try entries.indices.filter { known[entries[$0].name] != entries[$0].key }.map { index in
                let text = key == "items" ? try JSONResponse.text(response.items[index]) : entries[index].key
                return "\(try JSONResponse.text(entries[index].name)):\(text)"
            }
            guard !set.isEmpty || !isSameOrder else { return nil }
            let order = isSameOrder ? "" : ",\"order\":\(try JSONResponse.text(entries.map(\.name)))"
            return "\"\(key)\":{\"set\":{\(set.joined(separator: ","))}\(order)}"
        }
        return "{\"values\":{\(changed.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))},"
            + "\"lists\":{\(parts.joined(separator: ","))}}"
    }
}
