import CBenchShims
import Glibc

/// A process that was started to be measured, with its standard output on a pipe.
struct ChildProcess: ~Copyable {
    private let id: pid_t
    private let output: Int32
    private let deadline: UInt64
    private let limit: Double

    /// The end of a process.
    struct End {
        /// As waitpid(2) gives it; 0 is success.
        let status: Int32
        let output: String
        /// User and system time of the process.
        let processorSeconds: Double
        /// Monotonic nanoseconds.
        let time: UInt64
    }

    /// Starts a program by its path, as a service manager does: in a session, and so an autogroup, of its own, where
    /// its nice values weigh its own threads only.
    ///
    /// - Parameter limit: seconds after which it is killed.
    init(arguments: [String], limit: Double) throws(PeerFailure) {
        var ends: [Int32] = [0, 0]
        guard unsafe bench_pipe(&ends) == 0 else { throw .notStarted(error: errno) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        unsafe bench_spawn_as_service(&attributes)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
        unsafe words.append(nil)
        var id: pid_t = 0
        let error = unsafe posix_spawn(&id, arguments[0], &actions, &attributes, words, environ)
        unsafe words.withUnsafeBufferPointer { words in
            for index in words.indices { unsafe free(words[index]) }
        }
        unsafe posix_spawnattr_destroy(&attributes)
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        guard error == 0 else {
            close(ends[0])
            throw .notStarted(error: error)
        }
        self.id = id
        output = ends[0]
        self.limit = limit
        deadline = bench_now() + UInt64(limit * 1e9)
    }

    deinit {
        close(output)
    }

    /// Reads the output until the process ends; kills it when the time is up.
    consuming func waitForEnd() throws(PeerFailure) -> End {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isKilled = false
        while true {
            let left = Int64(bitPattern: deadline) - Int64(bench_now())
            if left <= 0, !isKilled {
                kill(id, SIGKILL)
                isKilled = true
            }
            var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&wanted, 1, isKilled ? -1 : Int32(left / 1_000_000 + 1)) > 0 else { continue }
            let count = unsafe read(output, &buffer, buffer.count)
            if count <= 0 { break }
            text += buffer.prefix(count)
        }
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(id, &status, 0, &usage) == -1, errno == EINTR {}
        if isKilled { throw .tooLong(seconds: limit) }
        return End(
            status: status, output: String(decoding: text, as: UTF8.self),
            processorSeconds: usage.ru_utime.seconds + usage.ru_stime.seconds, time: bench_now())
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
