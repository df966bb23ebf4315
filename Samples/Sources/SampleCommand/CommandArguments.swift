internal import Foundation
internal import SafeFiles

/// The arguments of the process.
///
/// Arguments are bytes. Those that are no text reach the parser in the form of `PathText`, and not with characters in the
/// place of bytes.
package enum CommandArguments {
    /// The arguments without the name of the program, proc(5).
    package static let current: [String] = {
        let given = Array(CommandLine.arguments.dropFirst())
        guard let data = FileManager.default.contents(atPath: "/proc/self/cmdline") else { return given }
        let parts = Array(data).split(separator: 0, omittingEmptySubsequences: false)
        // Each argument ends with a zero.
        let raw = parts.dropLast().dropFirst()
        guard raw.count == given.count else { return given }
        return raw.map { PathText.argument(Array($0)) }
    }()
}
