import ArgumentParser
import Foundation

/// Draws what an interference run has written with `--json`.
struct PictureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture", abstract: "Draws the lines of 'interference --json' as an SVG.")

    @Argument(help: "The file with the lines of JSON.", completion: .file())
    var file: String

    @Option(name: .shortAndLong, help: "The path of the picture.", completion: .file())
    var output: String

    func run() throws {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let results = try lines.map { try JSONDecoder().decode(InterferenceResult.self, from: Data($0.utf8)) }
        guard !results.isEmpty else {
            throw ValidationError("\(file) holds no results. Run 'service-bench interference --json \(file)' first.")
        }
        try Data(InterferencePicture(results).svg.utf8).write(to: URL(filePath: output))
        print("wrote \(output)")
    }
}
