import Foundation

/// A folder of generated texts, the same for the same seed.
struct Corpus {
    /// Words of all lengths. Those at the front are frequent, as in a language.
    let words: [String]
    let folder: String
    let files: Int
    private let wordsPerFile: Int

    /// Writes the files.
    init(folder: String, files: Int, wordsPerFile: Int) throws {
        var random = Generator(state: 1)
        let letters = Array("etaoinshrdlucmfwypvbgk")
        words = (0..<20_000).map { _ in
            String(
                (0..<Int.random(in: 3...9, using: &random)).map { _ in letters[Int.random(in: 0..<22, using: &random)] }
            )
        }
        self.folder = folder
        self.files = files
        self.wordsPerFile = wordsPerFile
        for number in 0..<50 {
            try FileManager.default.createDirectory(atPath: "\(folder)/d\(number)", withIntermediateDirectories: true)
        }
        try write(&random)
    }

    /// Gives every file other words, in place.
    func rewrite(seed: UInt64) throws {
        var random = Generator(state: seed)
        try write(&random)
    }

    private func write(_ random: inout Generator) throws {
        for number in 0..<files {
            var text = ""
            for index in 0..<wordsPerFile {
                text += words[Self.rank(&random, words.count)]
                text += index % 10 == 9 ? "\n" : " "
            }
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/d\(number % 50)/f\(number).txt"))
        }
    }

    /// Gives every file a new time, so that the next pass reads it again.
    func touch() throws {
        for number in 0..<files {
            try FileManager.default.setAttributes(
                [.modificationDate: Date()],
                ofItemAtPath: "\(folder)/d\(number % 50)/f\(number).txt"
            )
        }
    }

    /// Returns queries as people type them: half of them one word, the others two words, or the beginning of a word.
    func queries(_ count: Int, seed: UInt64) -> [String] {
        var random = Generator(state: seed)
        return (0..<count).map { number in
            func word() -> String { words[50 + Self.rank(&random, words.count - 50)] }
            return switch number % 10 {
            case 0..<5: word()
            case 5..<8: word() + "+" + word()
            default: String(word().prefix(3))
            }
        }
    }

    /// Returns a rank that is small more often than large.
    private static func rank(_ random: inout Generator, _ count: Int) -> Int {
        let share = Double.random(in: 0..<1, using: &random)
        return Int(share * share * share * Double(count))
    }
}

/// SplitMix64.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
