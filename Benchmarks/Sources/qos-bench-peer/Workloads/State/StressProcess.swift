import CBenchShims
import Glibc

/// A run of `stress-ng` in a session of its own, as another service on the machine would be.
struct StressProcess {
    private static let path = "/usr/bin/stress-ng"

    private let id: pid_t

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - threads: how many that use a processor.
    ///   - seconds: when it ends, rounded up.
    init(threads: Int, seconds: Double) throws(StressFailure) {
        let words = [
            Self.path, "--quiet", "--cpu", "\(threads)", "--timeout", "\(Int(seconds.rounded(.up)))s", "--temp-path",
            "/tmp",
        ]
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        unsafe bench_spawn_as_service(&attributes)
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        var id: pid_t = 0
        let error = unsafe posix_spawn(&id, Self.path, nil, &attributes, arguments, environ)
        unsafe arguments.withUnsafeBufferPointer { arguments in
            for index in arguments.indices { unsafe free(arguments[index]) }
        }
        unsafe posix_spawnattr_destroy(&attributes)
        self.id = id
        guard error == 0 else { throw StressFailure(error: error) }
    }

    /// Waits for its end.
    func wait() {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) == -1, errno == EINTR {}
    }
}

/// Why `stress-ng` does not run.
struct StressFailure: Error, CustomStringConvertible {
    let error: Int32

    var description: String {
        error == ENOENT
            ? "B18 needs stress-ng: install Debian's package of that name"
            : "stress-ng cannot be started: error \(error)"
    }
}
