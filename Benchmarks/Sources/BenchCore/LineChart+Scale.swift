import Glibc

extension LineChart {
    /// From the values of a panel to pixels.
    struct Scale {
        /// A line across the panel; only those with a name have a number beside them.
        struct GridLine {
            let y: Double
            let name: String?
        }

        private let xEnd: Double
        private let yAxis: YAxis
        /// Powers of ten from under the smallest time to over the largest.
        private let decades: ClosedRange<Int>

        /// Makes a scale.
        ///
        /// - Parameter times: the points of all panels whose y axis shows times.
        init(_ xAxis: XAxis, _ yAxis: YAxis, times: [(x: Double, y: Double)]) {
            xEnd = xAxis.end
            self.yAxis = yAxis
            let logarithms = times.map { log10($0.y) }
            let lowest = Int((logarithms.min() ?? 0).rounded(.down))
            decades = lowest...max(lowest + 1, Int((logarithms.max() ?? 1).rounded(.up)))
        }

        func x(_ value: Double) -> Double { value / xEnd * plotWidth }

        func y(_ value: Double) -> Double {
            let share =
                switch yAxis {
                case .time: (log10(value) - Double(decades.lowerBound)) / Double(decades.count - 1)
                case .linear(let end): value / end
                }
            return top + plotHeight * (1 - share)
        }

        var grid: [GridLine] {
            switch yAxis {
            case .linear(let end):
                return (0...4).map { quarter in
                    let value = end * Double(quarter) / 4
                    return GridLine(y: y(value), name: Numerals.short(value))
                }
            case .time:
                return decades.flatMap { decade in
                    let steps = decade < decades.upperBound ? 1...9 : 1...1
                    return steps.map { step in
                        GridLine(
                            y: y(Double(step) * pow(10, Double(decade))), name: step == 1 ? Self.name(decade) : nil)
                    }
                }
            }
        }

        /// A power of ten of microseconds.
        private static func name(_ decade: Int) -> String {
            let (unit, power) = decade < 3 ? ("µs", decade) : decade < 6 ? ("ms", decade - 3) : ("s", decade - 6)
            return "\(Numerals.short(pow(10, Double(power)))) \(unit)"
        }
    }
}
