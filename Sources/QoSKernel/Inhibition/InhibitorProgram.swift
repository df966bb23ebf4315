internal import Glibc

/// The program that keeps the machine from going to sleep while it runs: `systemd-inhibit(1)`.
///
/// It holds an inhibitor of logind as long as another program runs under it. That one is `cat`, which ends with its
/// input. So a closed pipe ends both, also when this process was killed.
package struct InhibitorProgram: Sendable, Hashable {
    /// The path of the program.
    package let path: String

    /// Names a program.
    package init(path: String) {
        self.path = path
    }

    /// Finds the program in the folders of `PATH`; `nil` if it is in none.
    package static func find(in folders: String? = nil) -> InhibitorProgram? {
        let own = unsafe getenv("PATH").map { unsafe String(cString: $0) }
        let text = folders ?? own ?? "/usr/bin:/bin"
        for folder in text.split(separator: ":") {
            let path = "\(folder)/systemd-inhibit"
            if unsafe access(path, X_OK) == 0 { return InhibitorProgram(path: path) }
        }
        return nil
    }

    /// The reason why the machine cannot be kept awake; `nil` if nothing speaks against it.
    ///
    /// - Parameter root: where `/run` is. Source: sd_booted(3) and the folder of logind's seats.
    package static func obstacle(root: FileRoot = .real) -> String? {
        if find() == nil { return "systemd-inhibit is not installed" }
        if unsafe access(root.appending("/run/systemd/seats"), F_OK) != 0 { return "logind does not run" }
        return nil
    }

    /// Starts the program.
    ///
    /// The program has a process group of its own, so signals from a terminal do not end it. It blocks no signals.
    ///
    /// - Parameters:
    ///   - input: the descriptor that the program reads. The program ends when the other end is closed.
    ///   - reason: the reason, for a list of the inhibitors.
    /// - Returns: the id of the process.
    /// - Throws: `posix_spawn` if the program cannot be started.
    package func start(input: Int32, reason: String) throws(KernelError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let name = CommandLine.arguments.first?.split(separator: "/").last ?? "swift-qos"
        let texts = [path, "--what=idle", "--mode=block", "--who=\(name)", "--why=\(reason)", "cat"]
        var arguments = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var process: pid_t = 0
        let code = unsafe posix_spawn(&process, path, &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw KernelError(.startProgram, code: code, subject: path) }
        return process
    }

    /// Waits for the end of a process that ``start(input:reason:)`` has made. Blocks.
    ///
    /// - Returns: its exit status; `nil` if a signal ended it, or if nothing is known.
    package static func waitForEnd(of process: Int32) -> Int32? {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
    }
}
