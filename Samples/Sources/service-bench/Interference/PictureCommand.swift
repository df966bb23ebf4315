import ArgumentParser
import Foundation

/// Draws what an interference run has written with `--json`.
struct PictureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "Draws the lines of 'interference --json' as an SVG, and prints their medians.")

    @Argument(help: "The file with the lines of JSON.", completion: .file())
    var file: String

    @Option(name: .shortAndLong, help: "The path of the picture.", completion: .file())
    var output: String

    func run() throws {
        let results = try InterferenceResult.read(file)
        guard !results.isEmpty else {
            throw ValidationError("\(file) holds no results. Run 'service-bench interference --json \(file)' first.")
        }
        try Data(InterferencePicture(results).svg.utf8).write(to: URL(filePath: output))
        print("\(InterferenceTable(results).medians)\n\nwrote \(output)")
    }
}
