import ArgumentParser
import Glibc
import QoSCore
import QoSKernel

/// `qosctl run`: starts any program at a class, as `nice`, `chrt` and `ionice` together would.
///
/// The program replaces this process, so its id, its parent and its standard streams are those of the command. It
/// inherits the kernel's effects of the class, and so do its threads and children. It needs nothing of this package.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Starts a program at a class.",
        discussion: """
            qosctl run --qos background -- tar -cf /backup/home.tar /home

            The program, its threads and its children get the class's policy, nice value, slice, I/O priority and timer \
            slack. Each effect that the kernel refuses is named on standard error, and the program starts without it.

            A class below default cannot be left again without privileges. Exit status: that of the program; 126 if it \
            cannot be executed, 127 if it is not found.
            """)

    @Option(help: "The class: user-interactive, user-initiated, default, utility or background.")
    var qos: ClassArgument

    @Flag(help: "Name nothing that the kernel refuses.")
    var quiet = false

    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String]

    /// A class as people write it.
    struct ClassArgument: ExpressibleByArgument {
        let qosClass: QoSClass

        init?(argument: String) {
            let letters = argument.lowercased().filter { $0 != "-" && $0 != "_" }
            guard let found = QoSClass.allCases.first(where: { "\($0)".lowercased() == letters }) else { return nil }
            qosClass = found
        }
    }

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("there is no program: name it after --") }
    }

    func run() throws {
        // The program shares its group with others, so its nice values are those of a polite neighbour.
        let applied = EffectApplier(mode: EffectProbe.run().mode, spread: .polite).apply(qos.qosClass)
        if !quiet {
            for (knob, error) in applied.errors.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                StandardError.write("qosctl: \(knob.rawValue) of \(qos.qosClass) is refused: \(error)")
            }
        }
        var arguments = command.map { unsafe strdup($0) } + [nil]
        unsafe execvp(arguments[0], &arguments)
        let code = errno
        StandardError.write("qosctl: \(command[0]) cannot be started: \(unsafe String(cString: strerror(code)))")
        throw ExitCode(code == ENOENT ? 127 : 126)
    }
}
