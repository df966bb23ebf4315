/// Entries by item, in an array, so that a look at one field copies nothing else.
struct ItemSlots: Sendable {
    private var slots: [WorkloadTable.Entry] = []
    private var places: [WorkloadItemID: Int] = [:]
    private var free: [Int] = []

    var count: Int { places.count }

    /// The items, in order.
    ///
    /// - Complexity: O(n log n).
    var ids: [WorkloadItemID] { places.keys.sorted() }

    func contains(_ id: WorkloadItemID) -> Bool { places[id] != nil }

    /// The number of the item's valid entry in a queue; `nil` for an unknown item.
    func stamp(of id: WorkloadItemID) -> UInt64? { places[id].map { slots[$0].stamp } }

    /// The entry of an item that exists.
    subscript(id: WorkloadItemID) -> WorkloadTable.Entry {
        get { slots[places[id]!] }
        _modify { yield &slots[places[id]!] }
    }

    /// Adds an item, or replaces its entry.
    mutating func insert(_ entry: WorkloadTable.Entry, for id: WorkloadItemID) {
        if let place = places[id] {
            slots[place] = entry
        } else if let place = free.popLast() {
            slots[place] = entry
            places[id] = place
        } else {
            places[id] = slots.count
            slots.append(entry)
        }
    }

    /// Removes an item. Its entry stays in memory until the place is used again.
    mutating func remove(_ id: WorkloadItemID) {
        if let place = places.removeValue(forKey: id) { free.append(place) }
    }
}
