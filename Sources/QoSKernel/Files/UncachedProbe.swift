internal import Glibc

/// Finds out whether a file system has reads that leave the page cache as it was (RWF_DONTCACHE, Linux 6.14).
package enum UncachedProbe {
    /// Reads a new file in a directory, which is removed at once.
    ///
    /// - Returns: 0, or the negated error number: `-EOPNOTSUPP` where the kernel or the file system lacks it.
    package static func run(in folder: String, calls: any FileCalls = LinuxFileCalls()) -> Int32 {
        let path = "\(folder)/.qos-probe-\(getpid())"
        let descriptor = calls.open(path, flags: O_RDWR | O_CREAT | O_EXCL, permissions: 0o600)
        guard descriptor >= 0 else { return descriptor }
        defer { _ = calls.close(descriptor) }
        _ = calls.remove(path)
        var byte: [UInt8] = [0]
        return unsafe byte.withUnsafeMutableBytes { buffer in
            let result = unsafe calls.read(descriptor, into: buffer, at: 0, .uncached)
            return result < 0 ? Int32(clamping: result) : 0
        }
    }

    /// The failure in words.
    package static func text(_ result: Int32, _ folder: String) -> String {
        guard result == -EOPNOTSUPP || result == -EINVAL else {
            return "\(KernelError(.readFile, code: result, subject: folder))"
        }
        return "no RWF_DONTCACHE on the file system of \(folder): reads use RWF_NOWAIT and posix_fadvise instead"
    }
}
