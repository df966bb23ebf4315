import Glibc

extension LineChart {
    private static let left = 66.0
    private static let labelWidth = 225.0
    static let (top, plotWidth, plotHeight) = (72.0, 330.0, 360.0)
    private static let lineHeight = 15.0

    /// The picture, dark on white.
    public var svg: String {
        let times = panels.filter { $0.yAxis == .time }.flatMap(\.lines).flatMap(\.points)
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
            let scale = Scale(xAxis, panel.yAxis, times: times)
            parts += frame(panel.title, at: x, scale)
            parts += panel.lines.map { Self.path($0, at: x, scale) }
            parts += Self.labels(panel.lines, at: x, scale)
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    /// Axes, grid and numbers of a panel.
    private func frame(_ title: String, at left: Double, _ scale: Scale) -> [String] {
        let bottom = Self.top + Self.plotHeight
        var parts: [String] = []
        if let band = xAxis.band {
            let (x, end) = (left + scale.x(band.range.lowerBound), left + scale.x(band.range.upperBound))
            parts.append(
                "<rect x=\"\(Self.pixel(x))\" y=\"\(Self.pixel(Self.top))\" width=\"\(Self.pixel(end - x))\" "
                    + "height=\"\(Self.pixel(Self.plotHeight))\" fill=\"#f2f0e9\"/>")
            parts.append(Self.text(band.label, x + 4, Self.top + 14, "fill=\"#777\""))
        }
        parts.append(Self.text(title, left, Self.top - 14, "font-size=\"13\" font-weight=\"bold\""))
        for line in scale.grid {
            parts.append(Self.rule(left, line.y, left + Self.plotWidth, line.y, line.name == nil ? "#eee" : "#ccc"))
            guard let name = line.name else { continue }
            parts.append(Self.text(name, left - 8, line.y + 4, "text-anchor=\"end\""))
        }
        for value in xAxis.ticks {
            let x = left + scale.x(value)
            parts.append(Self.rule(x, bottom, x, bottom + 5, "#444"))
            parts.append(Self.text(Numerals.short(value), x, bottom + 19, "text-anchor=\"middle\""))
        }
        parts.append(Self.rule(left, bottom, left + Self.plotWidth, bottom, "#444"))
        parts.append(Self.text(xAxis.label, left, bottom + 40))
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

    private static func text(_ text: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
        let safe = text.map { $0 == "&" ? "&amp;" : $0 == "<" ? "&lt;" : String($0) }.joined()
        let space = attributes.isEmpty ? "" : " "
        return "<text x=\"\(pixel(x))\" y=\"\(pixel(y))\"\(space)\(attributes)>\(safe)</text>"
    }

    private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
        "<line x1=\"\(pixel(x1))\" y1=\"\(pixel(y1))\" x2=\"\(pixel(x2))\" y2=\"\(pixel(y2))\" stroke=\"\(colour)\"/>"
    }

    private static func pixel(_ value: Double) -> String { Numerals.short((value * 10).rounded() / 10) }
}
