import Glibc

extension LineChart {
    private static let (left, top) = (66.0, 72.0)
    private static let (plotWidth, plotHeight, labelWidth) = (330.0, 360.0, 225.0)
    private static let lineHeight = 15.0

    /// The picture, dark on white.
    public var svg: String {
        let scale = Scale(panels.flatMap(\.lines).flatMap(\.points))
        let width = Numerals.short(Self.left + Double(panels.count) * (Self.plotWidth + Self.labelWidth))
        let height = Numerals.short(Self.top + Self.plotHeight + 56)
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
            Self.text(title, 16, 26, "font-size=\"16\" font-weight=\"bold\""),
        ]
        for (number, panel) in panels.enumerated() {
            let x = Self.left + Double(number) * (Self.plotWidth + Self.labelWidth)
            parts += frame(panel.title, at: x, scale)
            parts += panel.lines.map { Self.path($0, at: x, scale) }
            parts += Self.labels(panel.lines, at: x, scale)
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    /// Axes, grid and numbers of a panel.
    private func frame(_ title: String, at left: Double, _ scale: Scale) -> [String] {
        var parts = [Self.text(title, left, Self.top - 14, "font-size=\"13\" font-weight=\"bold\"")]
        for decade in scale.decades {
            let y = scale.y(pow(10, Double(decade)))
            parts.append(Self.rule(left, y, left + Self.plotWidth, y, "#ccc"))
            parts.append(Self.text(Self.time(decade), left - 8, y + 4, "text-anchor=\"end\""))
            guard decade < scale.decades.upperBound else { continue }
            for step in 2...9 {
                let y = scale.y(Double(step) * pow(10, Double(decade)))
                parts.append(Self.rule(left, y, left + Self.plotWidth, y, "#eee"))
            }
        }
        let bottom = Self.top + Self.plotHeight
        for quarter in 0...3 {
            let value = Double(quarter) / 4
            let x = left + scale.x(value)
            parts.append(Self.rule(x, bottom, x, bottom + 5, "#444"))
            parts.append(Self.text(Numerals.short(value), x, bottom + 19, "text-anchor=\"middle\""))
        }
        parts.append(Self.rule(left, bottom, left + Self.plotWidth, bottom, "#444"))
        parts.append(Self.text(xLabel, left, bottom + 40))
        return parts
    }

    private static func path(_ line: Line, at left: Double, _ scale: Scale) -> String {
        let places = line.points.map { "\(pixel(left + scale.x($0.x))),\(pixel(scale.y($0.y)))" }
        let stroke =
            "stroke=\"\(line.style.colour)\" stroke-width=\"\(Numerals.short(line.style.width))\""
            + (line.style.isDashed ? " stroke-dasharray=\"6 4\"" : "")
        let dots = places.map { place in
            let parts = place.split(separator: ",")
            return "<circle cx=\"\(parts[0])\" cy=\"\(parts[1])\" r=\"2.5\" fill=\"\(line.style.colour)\"/>"
        }
        return "<polyline points=\"\(places.joined(separator: " "))\" fill=\"none\" \(stroke)/>" + dots.joined()
    }

    /// The names at the lines' right ends, moved apart where they would cover one another.
    private static func labels(_ lines: [Line], at left: Double, _ scale: Scale) -> [String] {
        let ends = lines.compactMap { line in line.points.last.map { (line, left + scale.x($0.x), scale.y($0.y)) } }
            .sorted { $0.2 < $1.2 }
        let places = spread(ends.map(\.2), apart: lineHeight, within: top...(top + plotHeight))
        let x = left + plotWidth + 10
        return zip(ends, places).flatMap { end, place in
            [
                rule(end.1, end.2, x, place, end.0.style.colour),
                text(end.0.name, x + 4, place + 4, "fill=\"\(end.0.style.colour)\""),
            ]
        }
    }

    /// Moves ascending places so that neighbours have a distance, each as little as a pass down and a pass up can do.
    static func spread(_ places: [Double], apart distance: Double, within range: ClosedRange<Double>) -> [Double] {
        var result = places
        for index in result.indices.dropFirst() { result[index] = max(result[index], result[index - 1] + distance) }
        guard let last = result.indices.last else { return [] }
        result[last] = min(result[last], range.upperBound)
        for index in result.indices.dropLast().reversed() {
            result[index] = min(result[index], result[index + 1] - distance)
        }
        return result
    }

    /// A power of ten of microseconds.
    private static func time(_ decade: Int) -> String {
        let (unit, power) = decade < 3 ? ("µs", decade) : decade < 6 ? ("ms", decade - 3) : ("s", decade - 6)
        return "\(Numerals.short(pow(10, Double(power)))) \(unit)"
    }

    private static func text(_ text: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
        let safe = text.map { $0 == "&" ? "&amp;" : $0 == "<" ? "&lt;" : String($0) }.joined()
        let space = attributes.isEmpty ? "" : " "
        return "<text x=\"\(pixel(x))\" y=\"\(pixel(y))\"\(space)\(attributes)>\(safe)</text>"
    }

    private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
        "<line x1=\"\(pixel(x1))\" y1=\"\(pixel(y1))\" x2=\"\(pixel(x2))\" y2=\"\(pixel(y2))\" stroke=\"\(colour)\"/>"
    }

    private static func pixel(_ value: Double) -> String { Numerals.short((value * 10).rounded() / 10) }

    /// From values to pixels.
    private struct Scale {
        /// Powers of ten from under the smallest value to over the largest.
        let decades: ClosedRange<Int>

        init(_ points: [(x: Double, y: Double)]) {
            let logarithms = points.map { log10($0.y) }
            let lowest = Int((logarithms.min() ?? 0).rounded(.down))
            decades = lowest...max(lowest + 1, Int((logarithms.max() ?? 1).rounded(.up)))
        }

        func x(_ value: Double) -> Double { value / 0.8 * plotWidth }

        func y(_ value: Double) -> Double {
            let share = (log10(value) - Double(decades.lowerBound)) / Double(decades.count - 1)
            return top + plotHeight * (1 - share)
        }
    }
}
