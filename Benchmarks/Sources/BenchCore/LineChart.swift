/// Lines over a linear x axis in panels side by side that share a logarithmic y axis; as SVG.
public struct LineChart: Sendable {
    /// Above everything.
    public let title: String
    /// Under each panel.
    public let xLabel: String
    /// One diagram of the row.
    public let panels: [Panel]

    /// One diagram.
    public struct Panel: Sendable {
        /// Above it.
        public let title: String
        /// Later ones are drawn over earlier ones.
        public let lines: [Line]

        /// Makes a panel.
        public init(title: String, lines: [Line]) {
            self.title = title
            self.lines = lines
        }
    }

    /// One line, labelled at its right end.
    public struct Line: Sendable {
        /// The label.
        public let name: String
        /// The style of the line: SVG attributes of the stroke. SVG attributes of the stroke.
        public let style: Style
        /// By x ascending, at least one; y is positive.
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
    public init(title: String, xLabel: String, panels: [Panel]) {
        self.title = title
        self.xLabel = xLabel
        self.panels = panels
    }
}
