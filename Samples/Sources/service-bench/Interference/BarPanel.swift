import Foundation

/// The bars of one quantity, each with a line from its smallest to its largest value.
struct BarPanel {
    let title: String
    let unit: String
    /// The sorted values of each neighbour.
    let values: [Neighbour: [Double]]
    /// The value that is the target, if there is one.
    let limit: Double?

    /// The right end of the axis. A bar that is far longer than the others would make them unreadable, so it is cut.
    private var end: Double {
        let medians = values.values.map(Quantile.median).sorted()
        let largest = values.values.compactMap(\.last).max() ?? 1
        return min(largest, 4 * Quantile.median(medians))
    }

    /// Returns the bar of a neighbour with its number.
    func bar(_ neighbour: Neighbour, _ x: Double, _ y: Double, width: Double, height: Double) -> [String] {
        guard let values = values[neighbour], let first = values.first, let last = values.last else {
            return [SVG.text("–", x, y + 15)]
        }
        func place(_ value: Double) -> Double { x + min(value / end, 1) * width }
        let median = Quantile.median(values)
        let middle = y + height / 2
        var parts = [SVG.box(x, y, place(median) - x, height, neighbour.colour)]
        if values.count > 1 {
            parts.append(SVG.line(place(first), middle, place(last), middle, "stroke=\"#222\" stroke-width=\"1.5\""))
        }
        if last > end {
            // A white stroke through the bar says that it goes on.
            let cut = x + width - 14
            parts.append(SVG.line(cut, y + height + 3, cut + 8, y - 3, "stroke=\"#fff\" stroke-width=\"4\""))
        }
        let number = String(format: median < 100 ? "%.1f" : "%.0f", median)
        let weight = neighbour == .ours ? "font-weight=\"bold\"" : ""
        parts.append(SVG.text("\(number) \(unit)", place(max(last, median)) + 6, y + 15, weight))
        return parts
    }

    /// Returns the line of the target with its name.
    func mark(_ x: Double, _ top: Double, _ bottom: Double, width: Double, _ name: String) -> [String] {
        guard let limit else { return [] }
        let place = x + min(limit / end, 1) * width
        return [
            SVG.line(place, top, place, bottom, "stroke=\"#444\" stroke-dasharray=\"4 3\""),
            SVG.text(name, place - 20, bottom + 16, "font-size=\"11\" fill=\"#444\""),
        ]
    }
}

extension Neighbour {
    fileprivate var colour: String {
        switch self {
        case .none, .floor: "#bbb"
        case .ours: "#0b4f94"
        case .swift: "#d55e00"
        case .peers, .nice, .session: "#8a7f5c"
        }
    }
}
