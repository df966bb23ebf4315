internal import CQoSGuests
internal import Glibc

/// A program to start as a child that inherits nothing but one descriptor, and standard output and error.
package struct ChildProgram: Sendable, Hashable {
    /// The number under which the child finds the descriptor.
    package static let passedNumber: Int32 = 3

    /// The path of the program. It is not looked up in `PATH`.
    package let path: String
    /// The arguments that follow the program's name.
    package let arguments: [String]
    /// The environment, each as `NAME=value`.
    package let environment: [String]

    /// Names a program.
    package init(_ path: String, _ arguments: [String], environment: [String]) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
    }

    /// The environment of this process. No thread may change it meanwhile, as for getenv(3).
    package static var ownEnvironment: [String] {
        var variables: [String] = []
        var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe environ
        while let place = unsafe next, let text = unsafe place.pointee {
            variables.append(unsafe String(cString: text))
            unsafe next = place + 1
        }
        return variables
    }

    /// Starts the program. Blocks until the child has begun it.
    ///
    /// The child has default signal actions and blocks no signal. Its standard input is `/dev/null`. Its group of
    /// processes is that of this process. Processors, nice value and policy are those of the process's start if the
    /// calling thread is one of ours (``LibraryThreads``).
    ///
    /// - Parameter descriptor: what the child finds as ``passedNumber``. It stays open here.
    /// - Returns: the id of the process.
    /// - Throws: `posix_spawn` if the program cannot be started; with EINVAL if a text contains a NUL character.
    package func start(passing descriptor: Int32) throws(KernelError) -> Int32 {
        let texts = [path] + arguments
        guard (texts + environment).allSatisfy({ !$0.utf8.contains(0) }) else {
            throw KernelError(.startProgram, code: EINVAL, subject: path)
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // First: the descriptor may have the number of standard input. The copy stays open over exec.
        unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Self.passedNumber)
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        // Of others, too, that have forgotten O_CLOEXEC.
        unsafe addCloseFrom(&actions, Self.passedNumber + 1)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var ownTexts = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe ownTexts.indices { unsafe free(ownTexts[index]) } }
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe variables.indices { unsafe free(variables[index]) } }
        var process: pid_t = 0
        let code = unsafe posix_spawn(&process, path, &actions, &attributes, &ownTexts, &variables)
        guard code == 0 else { throw KernelError(.startProgram, code: code, subject: path) }
        return process
    }
}

/// `posix_spawn_file_actions_addclosefrom_np`, which the importer does not bring in: the C library declares it for GNU
/// programs only.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
@discardableResult
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32) -> Int32
