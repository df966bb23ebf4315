/// Numbers as text, without Foundation.
public enum Numerals {
    /// Whole numbers without a fraction, others as Swift writes them.
    public static func short(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }

    /// Three digits that say something: `1234`, `123`, `12.3`, `1.23`, `0.0123`.
    public static func rounded(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        let magnitude = abs(value)
        if magnitude >= 99.95 || magnitude == 0 { return String(Int(value.rounded())) }
        var decimals = 2
        var bound = 0.9995
        if magnitude >= 9.995 { decimals = 1 }
        while magnitude < bound, decimals < 6 {
            decimals += 1
            bound /= 10
        }
        return fixed(value, decimals: decimals)
    }

    private static func fixed(_ value: Double, decimals: Int) -> String {
        var scale = 1
        for _ in 0..<decimals { scale *= 10 }
        let whole = Int((abs(value) * Double(scale)).rounded())
        let fraction = String(whole % scale)
        let padding = String(repeating: "0", count: decimals - fraction.count)
        return (value < 0 ? "-" : "") + "\(whole / scale).\(padding)\(fraction)"
    }
}
