/// Texts and trees out of a small vocabulary, so that every word has many hits.
public struct WordWorld {
    /// Every word that a text may contain; none is the beginning of another.
    public static let words: [String] = (0..<60).map { "w\($0 / 10)x\($0 % 10)z" }

    /// The generator that the world is drawn from.
    public var generator: SeededGenerator

    /// A world.
    public init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// A text of `count` words on lines of eight.
    public mutating func text(words count: Int) -> String {
        var text = ""
        for index in 0..<count {
            text += Self.words[Int.random(in: 0..<Self.words.count, using: &generator)]
            text += index % 8 == 7 ? "\n" : " "
        }
        return text
    }

    /// The name of a file in one of some folders.
    public mutating func name() -> String {
        let folder = Int.random(in: 0..<12, using: &generator)
        let suffix = ["txt", "md", "swift", "data"][Int.random(in: 0..<4, using: &generator)]
        return "d\(folder)/e\(folder % 3)/f\(Int.random(in: 0..<100_000, using: &generator)).\(suffix)"
    }

    /// Writes `count` files and returns their names.
    public mutating func populate(_ folder: TemporaryFolder, files count: Int, words: Int = 40) throws -> [String] {
        var names: Set<String> = []
        while names.count < count {
            let name = name()
            guard names.insert(name).inserted else { continue }
            try folder.write(name, text(words: Int.random(in: 0...(2 * words), using: &generator)))
        }
        return names.sorted()
    }
}
