/// Lines over a linear x axis in panels side by side; as SVG.
public struct LineChart: Sendable {
    /// Above everything.
    public let title: String
    /// The x axis of every panel.
    public let xAxis: XAxis
    /// One diagram of the row.
    public let panels: [Panel]

    /// A linear axis from 0.
    public struct XAxis: Sendable {
        /// Under each panel.
        public let label: String
        /// The right end.
        public let end: Double
        /// The values with a number.
        public let ticks: [Double]
        /// A range with a grey ground, and what it says; `nil` for none.
        public let band: (range: ClosedRange<Double>, label: String)?

        /// Makes an axis.
        public init(
            label: String, end: Double, ticks: [Double], band: (range: ClosedRange<Double>, label: String)? = nil
        ) {
            self.label = label
            self.end = end
            self.ticks = ticks
            self.band = band
        }
    }

    /// The way from values to heights.
    public enum YAxis: Sendable, Hashable {
        /// Powers of ten of microseconds. Panels with this axis share its range.
        case time
        /// From 0 to the value.
        case linear(end: Double)
    }

    /// One diagram.
    public struct Panel: Sendable {
        /// Above it.
        public let title: String
        /// Its own y axis.
        public let yAxis: YAxis
        /// Later ones are drawn over earlier ones.
        public let lines: [Line]

        /// Makes a panel.
        public init(title: String, yAxis: YAxis = .time, lines: [Line]) {
            self.title = title
            self.yAxis = yAxis
            self.lines = lines
        }
    }

    /// One line, labelled at its right end.
    public struct Line: Sendable {
        /// The label.
        public let name: String
        /// The style of the line: SVG attributes of the stroke.
        public let style: Style
        /// By x ascending, at least one. On an axis of times, y is positive.
        public let points: [(x: Double, y: Double)]

        /// Makes a line.
        public init(name: String, style: Style, points: [(x: Double, y: Double)]) {
            self.name = name
            self.style = style
            self.points = points
        }
    }

    /// The style of a line.
    public struct Style: Sendable, Hashable {
        /// `#rrggbb`.
        public let colour: String
        /// Pixels.
        public let width: Double
        /// Whether it is broken.
        public let isDashed: Bool

        /// Makes a style.
        public init(_ colour: String, width: Double = 2, isDashed: Bool = false) {
            self.colour = colour
            self.width = width
            self.isDashed = isDashed
        }
    }

    /// Makes a chart.
    ///
    /// - Parameter panels: at least one line in all.
    public init(title: String, xAxis: XAxis, panels: [Panel]) {
        self.title = title
        self.xAxis = xAxis
        self.panels = panels
    }
}
