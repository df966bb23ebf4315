internal import Glibc
package import QoSCore

/// A text file of simulated states, one in a line: `thermal=serious`. Empty lines, and those that begin with `#`, do
/// not count.
///
/// Any thread may call it; a pipe or a device in the place of the file does not block.
package enum SimulationFile {
    /// Reads the states.
    ///
    /// - Returns: the states, none for a file that does not exist. `problem` names a file that cannot be read, or the
    ///   first line that is no state; the other lines count.
    package static func read(_ path: String) -> (states: ConditionOverrides, problem: String?) {
        var states = ConditionOverrides()
        let text: String
        do throws(KernelError) {
            text = try SensorFile.read(path)
        } catch {
            return (states, error.code == ENOENT ? nil : "the simulated states in \(path) do not count: \(error)")
        }
        var problem: String?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let name = line.split(whereSeparator: \.isWhitespace).joined()
            if name.isEmpty || name.hasPrefix("#") || states.set(name) || problem != nil { continue }
            problem = "line \(index + 1) of \(path) is no state: write one such as thermal=serious"
        }
        return (states, problem)
    }

    /// Replaces the file in one step, so that no reader sees a part of it. Without states the file is removed.
    ///
    /// - Parameter names: texts that `ConditionOverrides.set` takes.
    /// - Throws: the errors of open(2), write(2), rename(2) and unlink(2).
    package static func write(_ names: [String], to path: String) throws(KernelError) {
        let calls = LinuxFileCalls()
        func check(_ result: Int) throws(KernelError) {
            guard result < 0 else { return }
            throw KernelError(.writeFile, code: Int32(clamping: -result), subject: path)
        }
        guard !names.isEmpty else {
            let result = calls.remove(path)
            return try check(result == -ENOENT ? 0 : Int(result))
        }
        let new = "\(path).\(getpid())"
        let descriptor = calls.open(new, flags: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, permissions: 0o644)
        try check(Int(descriptor))
        let bytes = Array((names.joined(separator: "\n") + "\n").utf8)
        var result = unsafe bytes.withUnsafeBytes { unsafe calls.write(descriptor, $0, at: 0, .plain) }
        if result >= 0, result < bytes.count { result = -Int(ENOSPC) }
        let closed = Int(calls.close(descriptor))
        if result >= 0 { result = closed }
        if result >= 0 { result = Int(calls.rename(new, to: path, replacing: true)) }
        if result < 0 { _ = calls.remove(new) }
        try check(result)
    }
}
