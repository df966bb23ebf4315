/// A program to start, and what it is started with.
package struct ChildCommand: Sendable, Hashable {
    /// The target of a standard stream of the child.
    package enum Stream: Sendable, Hashable {
        /// The target of the same stream of this process.
        case inherit
        /// `/dev/null`.
        case null
        /// A descriptor of this process, which stays open here.
        case descriptor(Int32)
    }

    /// The program: a path, or a name to be looked up in the `PATH` of the child's environment.
    package var executable: String
    /// The arguments that follow the program's name.
    package var arguments: [String]
    /// The child's environment; `nil` for that of this process.
    package var environment: [String: String]?
    /// The directory to start in; `nil` for that of this process.
    package var workingDirectory: String?
    /// The child's standard input.
    package var standardInput: Stream
    /// The child's standard output.
    package var standardOutput: Stream
    /// The child's standard error.
    package var standardError: Stream

    /// Makes a command.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        workingDirectory: String? = nil, standardInput: Stream = .null, standardOutput: Stream = .inherit,
        standardError: Stream = .inherit
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.standardInput = standardInput
        self.standardOutput = standardOutput
        self.standardError = standardError
    }
}
