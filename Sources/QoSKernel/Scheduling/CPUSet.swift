/// A set of processors, of any number.
package struct CPUSet: Sendable, Hashable {
    /// One bit per processor, without trailing words of zero, so that equal sets have equal words.
    private(set) var words: [UInt64]

    /// The set of a mask as the kernel writes it.
    init(words: [UInt64]) {
        self.words = words
        while self.words.last == 0 { self.words.removeLast() }
    }

    /// The set of some ids; O(the highest id). Negative ids are no processors and make no member.
    package init(_ ids: some Sequence<Int>) {
        var words: [UInt64] = []
        for id in ids where id >= 0 {
            let word = id / UInt64.bitWidth
            if word >= words.count { words += Array(repeating: 0, count: word - words.count + 1) }
            words[word] |= 1 << UInt64(id % UInt64.bitWidth)
        }
        self.words = words
    }

    /// The number of processors.
    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Whether it has none.
    package var isEmpty: Bool { words.isEmpty }

    /// The ids, ascending.
    package var ids: [Int] {
        words.enumerated().flatMap { index, word in
            (0..<UInt64.bitWidth).filter { word >> UInt64($0) & 1 == 1 }.map { index * UInt64.bitWidth + $0 }
        }
    }

    /// Whether a processor is a member; O(1).
    package func contains(_ id: Int) -> Bool {
        guard id >= 0, id / UInt64.bitWidth < words.count else { return false }
        return words[id / UInt64.bitWidth] >> UInt64(id % UInt64.bitWidth) & 1 == 1
    }
}

extension CPUSet: CustomStringConvertible {
    /// In the kernel's list form: `0-3,8`.
    package var description: String {
        var runs: [ClosedRange<Int>] = []
        for id in ids {
            if let last = runs.last, last.upperBound + 1 == id {
                runs[runs.count - 1] = last.lowerBound...id
            } else {
                runs.append(id...id)
            }
        }
        return runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }
}
