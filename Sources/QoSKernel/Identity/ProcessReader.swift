internal import CQoSShims
internal import Glibc

/// A reader of the identities of processes.
package struct ProcessReader: Sendable {
    private let root: FileRoot
    private let exists: @Sendable (Int32) -> Bool

    /// - Parameters:
    ///   - root: the directory that stands for `/`.
    ///   - exists: whether a process has a number. With `nil` kill(2) says so, which sees the processes of other users
    ///     also where `/proc` hides them.
    package init(root: FileRoot = .real, exists: (@Sendable (Int32) -> Bool)? = nil) {
        self.root = root
        self.exists = exists ?? { kill($0, 0) == 0 || errno != ESRCH }
    }

    /// Returns the identity of this process; `nil` if the system does not say, or if `/proc` is that of another
    /// namespace.
    package func current() -> ProcessIdentity? {
        guard let stat = readStat(of: "self"), stat.number == getpid() else { return nil }
        return world().map { ProcessIdentity(world: $0, number: stat.number, start: stat.start) }
    }

    /// Returns the identity of another process; `nil` without such a process.
    package func identity(of number: Int32) -> ProcessIdentity? {
        guard current() != nil, let stat = readStat(of: "\(number)"), !stat.hasEnded else { return nil }
        return world().map { ProcessIdentity(world: $0, number: number, start: stat.start) }
    }

    /// Returns whether a process has ended for certain. Some 50 µs.
    ///
    /// `false` for a process of another machine, of an earlier start of this one, or of another namespace: nobody here
    /// can tell.
    package func isGone(_ process: ProcessIdentity) -> Bool {
        guard current() != nil, world() == process.world else { return false }
        guard exists(process.number) else { return true }
        // A process that ends now has no file any more. One of another user may have a hidden one.
        guard let stat = readStat(of: "\(process.number)") else { return !exists(process.number) }
        return stat.hasEnded || stat.start != process.start
    }

    /// The number of this process.
    package static var number: Int32 { getpid() }

    /// The name of this machine; `nil` if the system does not say.
    package static var machineName: String? {
        let text = try? KernelFile.read("/proc/sys/kernel/hostname")
        return text?.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }

    private func readStat(of name: String) -> ProcessStat? {
        (try? KernelFile.read(root.appending("/proc/\(name)/stat"))).flatMap(ProcessStat.init)
    }

    private func world() -> ProcessIdentity.World? {
        guard let text = try? KernelFile.read(root.appending("/proc/sys/kernel/random/boot_id")),
            let boot = text.split(whereSeparator: \.isWhitespace).first, !boot.contains(":"),
            let processes = fileNumber(of: "/proc/self/ns/pid")
        else { return nil }
        return ProcessIdentity.World(
            boot: String(boot), processes: processes, clocks: fileNumber(of: "/proc/self/ns/time") ?? 0)
    }

    /// The inode of a file, which for a namespace is its number (namespaces(7)).
    private func fileNumber(of path: String) -> UInt64? {
        var status = stat()
        guard unsafe stat(root.appending(path), &status) == 0 else { return nil }
        return UInt64(status.st_ino)
    }
}

/// A descriptor that is readable once a process has ended (pidfd_open(2)). It closes itself.
package struct ProcessDescriptor: ~Copyable {
    /// The number of the descriptor, valid during the life of the value.
    package let rawValue: Int32

    /// Opens the descriptor of a process.
    ///
    /// - Returns: `nil` if there is no such process, or the system refuses: before Linux 5.3, or without a free
    ///   descriptor.
    package init?(_ number: Int32) {
        let descriptor = cqos_open_process(number)
        guard descriptor >= 0 else { return nil }
        rawValue = descriptor
    }

    deinit {
        close(rawValue)
    }
}
