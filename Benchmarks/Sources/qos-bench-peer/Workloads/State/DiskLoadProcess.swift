import CBenchShims
import Glibc

/// A process of its own with the background work of B9, under `ionice`.
struct DiskLoadProcess {
    private let id: pid_t
    private let output: Int32

    /// Starts the process, and returns when its files are there.
    ///
    /// - Parameter arguments: of `ionice`.
    init(ionice arguments: [String], mix: DiskMix, seconds: Double) throws(DiskFailure) {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let command =
            ["/usr/bin/ionice"] + arguments + [own, "default", "B9", "load,mix=\(mix.rawValue)", "\(seconds)"]
        var ends: [Int32] = [0, 0]
        guard unsafe bench_pipe(&ends) == 0 else { throw DiskFailure("pipe", errno) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) }
        unsafe words.append(nil)
        var id: pid_t = 0
        let error = unsafe posix_spawn(&id, command[0], &actions, nil, words, environ)
        unsafe words.withUnsafeBufferPointer { words in
            for index in words.indices { unsafe free(words[index]) }
        }
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        (self.id, output) = (id, ends[0])
        guard error == 0 else {
            close(ends[0])
            throw DiskFailure("ionice cannot be started", error)
        }
        guard readLine() == "ready" else { throw DiskFailure("the process of the background work has failed", 0) }
    }

    /// Waits for the end. Returns the throughput in MB/s.
    func finish() throws(DiskFailure) -> Double {
        let line = readLine()
        var rest = readLine()
        while !rest.isEmpty { rest = readLine() }
        close(output)
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) == -1, errno == EINTR {}
        guard status == 0, let rate = Double(line) else {
            throw DiskFailure("the process of the background work ended with wait status \(status)", 0)
        }
        return rate
    }

    /// Reads a line; an empty one at the end.
    private func readLine() -> String {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(output, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != 10 else { break }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
