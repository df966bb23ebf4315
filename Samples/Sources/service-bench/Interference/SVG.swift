import Foundation

/// Elements of a picture.
enum SVG {
    static func text(_ text: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
        "<text x=\"\(pixel(x))\" y=\"\(pixel(y))\" \(attributes)>\(text)</text>"
    }

    static func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String) -> String {
        "<rect x=\"\(pixel(x))\" y=\"\(pixel(y))\" width=\"\(pixel(width))\" height=\"\(pixel(height))\" "
            + "fill=\"\(colour)\"/>"
    }

    static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ attributes: String) -> String {
        "<line x1=\"\(pixel(x1))\" y1=\"\(pixel(y1))\" x2=\"\(pixel(x2))\" y2=\"\(pixel(y2))\" \(attributes)/>"
    }

    private static func pixel(_ value: Double) -> String { String(format: "%.1f", value) }
}
