import ArgumentParser
import BenchCore
import FoundationEssentials

/// Draws a picture from the results of a benchmark.
struct PictureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "Draws sojourn time over load from what 'B1 --curve --json' has printed, B18 from 'B18 --json', or "
            + "quotas from 'QUOTA --json'.")

    @Argument(help: "Files with the lines of JSON; of a figure that is there more than once the last one counts.")
    var files: [String]

    @Option(help: "The path of the picture; without it a file of Docs/Pictures.")
    var output: String?

    func run() throws {
        var lines: [PictureLine] = []
        for file in files {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            lines += text.split(separator: "\n").compactMap {
                try? JSONDecoder().decode(PictureLine.self, from: Data($0.utf8))
            }
        }
        let pictures = [
            (SojournPicture.chart(lines), "sojourn-over-load.svg"), (PressurePicture.chart(lines), "pressure.svg"),
            (QuotaPicture.chart(lines), "quota.svg"),
        ]
        guard let (chart, name) = pictures.lazy.compactMap({ chart, name in chart.map { ($0, name) } }).first else {
            throw ValidationError(
                "there is nothing to draw in \(files.joined(separator: ", ")): run 'B1 --curve --json', 'B18 --json' or "
                    + "'QUOTA --json' first")
        }
        let path = output ?? "Docs/Pictures/\(name)"
        let target = URL(filePath: path)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(chart.svg.utf8).write(to: target)
        print("wrote \(path)")
    }
}

/// A line of results, as far as a picture needs it.
struct PictureLine: Decodable {
    let benchmark: String
    let `case`: String
    let metric: String
    let value: Double
}
