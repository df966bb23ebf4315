/// The charset of text that is neither UTF-8 nor says what it is: a guess by its letters.
///
/// In a language with Latin letters, most letters are ASCII and the others stand alone between them. In Russian and its
/// relatives whole words have none. There, six letters are more than a third of a text, and their bytes tell windows-1251 from
/// KOI8-R. Greek, Hebrew, and the charsets of East Asia fail both tests: that is no guess rather than a wrong one.
enum LegacyCharset: String {
    case windows1252 = "windows-1252"
    case windows1251 = "windows-1251"
    case koi8r = "koi8-r"

    /// Guesses; nil for bytes that are none of these. O(n).
    init?(_ bytes: ArraySlice<UInt8>) {
        var high = 0
        /// Bytes that are letters or usual signs of windows-1252.
        var western = 0
        var inRuns = 0
        var run = 0
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes {
            // Letters of the Cyrillic charsets, with Ё and the Ukrainian ones.
            let isLetter =
                byte >= 0xC0 || [0xA3, 0xA4, 0xA5, 0xA8, 0xAA, 0xAF, 0xB2, 0xB3, 0xB4, 0xB8, 0xBA, 0xBF].contains(byte)
            if byte >= 0x80 {
                high += 1
                if byte >= 0xC0 || Self.westernSigns.contains(byte) { western += 1 }
                counts[Int(byte)] += 1
            }
            run = isLetter ? run + 1 : 0
            if run == 3 { inRuns += 3 } else if run > 3 { inRuns += 1 }
        }
        guard high > 0 else { return nil }
        guard inRuns * 2 > high else {
            guard western * 10 >= high * 7 else { return nil }
            self = .windows1252
            return
        }
        let letters = counts[0xC0...].reduce(0, +)
        func share(_ set: [UInt8]) -> Double {
            Double(set.reduce(0) { $0 + counts[Int($1)] }) / Double(max(1, letters))
        }
        // о е а и н т, small and capital.
        let windows = share([0xEE, 0xE5, 0xE0, 0xE8, 0xED, 0xF2, 0xCE, 0xC5, 0xC0, 0xC8, 0xCD, 0xD2])
        let koi8 = share([0xCF, 0xC5, 0xC1, 0xC9, 0xCE, 0xD4, 0xEF, 0xE5, 0xE1, 0xE9, 0xEE, 0xF4])
        // Capitals are rare, and each charset has its capitals where the other one has its small letters.
        let small = Double(counts[0xE0...].reduce(0, +)) / Double(max(1, letters))
        let isWindows = windows + small > koi8 + (1 - small)
        // In the charsets of East Asia many bytes are no letters of either.
        guard letters * 10 >= high * 8, (isWindows ? windows : koi8) >= (letters < 40 ? 0.3 : 0.33) else { return nil }
        self = isWindows ? .windows1251 : .koi8r
    }

    /// Returns the place of the low byte in each pair of UTF-16 without a mark: 0 or 1; nil for anything else.
    static func lowByteOfUTF16(_ sample: ArraySlice<UInt8>) -> Int? {
        let pairs = sample.count / 2
        guard pairs >= 2 else { return nil }
        var zeros = [0, 0]
        var controls = 0
        for index in 0..<(pairs * 2) {
            let byte = sample[sample.startIndex + index]
            if byte == 0 { zeros[index % 2] += 1 }
            if byte < 0x20, byte != 0, ![0x09, 0x0A, 0x0D].contains(byte) { controls += 1 }
        }
        // Texts of alphabets have control characters in their high bytes, so only ASCII and Latin are told for certain.
        guard controls * 20 <= pairs else { return nil }
        if zeros[0] == 0, zeros[1] * 10 >= pairs * 7 { return 0 }
        if zeros[1] == 0, zeros[0] * 10 >= pairs * 7 { return 1 }
        return nil
    }

    /// The characters of the bytes 0x80 to 0x9F in windows-1252.
    static let windows1252Specials: [Unicode.Scalar] = Array(
        ("\u{20AC}\u{81}\u{201A}\u{192}\u{201E}\u{2026}\u{2020}\u{2021}\u{2C6}\u{2030}\u{160}\u{2039}\u{152}\u{8D}\u{17D}\u{8F}"
            + "\u{90}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{2DC}\u{2122}\u{161}\u{203A}\u{153}\u{9D}"
            + "\u{17E}\u{178}").unicodeScalars)

    private static let westernSigns: Set<UInt8> = [
        0x80, 0x84, 0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0xA0, 0xA1, 0xA3, 0xA7, 0xA9, 0xAB, 0xAE,
        0xB0,
        0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB7, 0xBA, 0xBB, 0xBD, 0xBF,
    ]
}
