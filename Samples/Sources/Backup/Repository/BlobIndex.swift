/// The places of all blobs.
struct BlobIndex: Sendable {
    /// A blob in a pack.
    struct Place: Sendable, Hashable {
        let pack: Identifier
        let offset: Int
        let length: Int
    }

    private(set) var sizes: [Identifier: Int] = [:]
    private var places: [Identifier: Compact] = [:]
    /// Further places of blobs that several runs stored at the same time.
    private var copies: [Identifier: [Compact]] = [:]
    private var packs: [Identifier] = []

    /// A place in 16 bytes.
    private struct Compact {
        let pack: UInt32
        let length: UInt32
        let offset: Int
    }

    /// Adds the blobs of a pack. A pack that is there already changes nothing.
    mutating func add(_ record: PackRecord) {
        guard sizes[record.pack] == nil else { return }
        sizes[record.pack] = record.size
        let number = UInt32(packs.count)
        packs.append(record.pack)
        for entry in record.entries {
            let place = Compact(pack: number, length: UInt32(clamping: entry.length), offset: entry.offset)
            if places[entry.blob] == nil {
                places[entry.blob] = place
            } else {
                copies[entry.blob, default: []].append(place)
            }
        }
    }

    func contains(_ blob: Identifier) -> Bool { places[blob] != nil }

    /// The number of blobs.
    var count: Int { places.count }

    /// All places of a blob.
    func places(of blob: Identifier) -> [Place] {
        guard let first = places[blob] else { return [] }
        return ([first] + (copies[blob] ?? [])).map {
            Place(pack: packs[Int($0.pack)], offset: $0.offset, length: Int($0.length))
        }
    }
}
