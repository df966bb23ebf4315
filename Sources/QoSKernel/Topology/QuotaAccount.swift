internal import Glibc

/// The kernel's account of a control group that has a quota of processor time: what the group used, and how often the
/// kernel stopped it.
///
/// The files stay open, so that a reading is a system call or two, some microseconds each. A process that is moved
/// needs another account: ``isOf(_:)`` tells.
///
/// Threading: any thread. Source: the kernel's `admin-guide/cgroup-v2.rst` and `scheduler/sched-bwc.rst`.
package final class QuotaAccount: Sendable {
    /// A reading.
    package struct Reading: Sendable, Hashable {
        /// The processor time of the group, nanoseconds; `nil` where only other groups are counted.
        package var used: UInt64?
        /// The kernel's periods in which the group had something to run.
        package var periods: UInt64
        /// Those of them in which the kernel stopped the group.
        package var throttled: UInt64

        /// Puts a reading together.
        package init(used: UInt64?, periods: UInt64, throttled: UInt64) {
            (self.used, self.periods, self.throttled) = (used, periods, throttled)
        }
    }

    private let source: String
    private let statistics: OpenKernelFile
    /// Version 1 has the use in a file of another controller.
    private let usage: OpenKernelFile?

    /// Opens the account of the group that has the quota.
    ///
    /// - Returns: `nil` if the group has no readable statistics.
    package init?(of quota: CPUQuota, root: FileRoot = .real) {
        let folder = quota.folder
        guard let statistics = OpenKernelFile("\(folder)/cpu.stat") else { return nil }
        source = quota.source
        self.statistics = statistics
        usage =
            quota.source.hasSuffix("/cpu.max")
            ? nil : Self.usageFile(beside: folder, root: root).flatMap { OpenKernelFile($0) }
    }

    /// Whether it is the account of the group that has this quota.
    package func isOf(_ quota: CPUQuota) -> Bool { quota.source == source }

    /// Reads the account; `nil` if it cannot be read any more, or makes no sense.
    package func read() -> Reading? {
        guard let text = statistics.read(), var reading = Reading(statistics: text) else { return nil }
        if let usage, let text = usage.read() { reading.used = UInt64(text.filter { !$0.isWhitespace }) }
        return reading
    }

    /// The file with the use of a group of version 1: beside the quota if both controllers are mounted together, else in
    /// the group of the same path. The groups of another path have other members.
    private static func usageFile(beside folder: String, root: FileRoot) -> String? {
        if KernelFile.exists("\(folder)/cpuacct.usage") { return "\(folder)/cpuacct.usage" }
        guard let cpu = try? CgroupMembership.current(of: "cpu", root: root).first(where: { $0.hierarchy == .v1 }),
            let account = try? CgroupMembership.current(of: "cpuacct", root: root).first(where: { $0.hierarchy == .v1 }
            ),
            let place = cpu.directories.firstIndex(where: { root.appending($0) == folder }),
            cpu.directories.count == account.directories.count,
            zip(cpu.directories, account.directories).allSatisfy({
                $0.dropFirst(cpu.mount.count) == $1.dropFirst(account.mount.count)
            })
        else { return nil }
        let path = root.appending("\(account.directories[place])/cpuacct.usage")
        return KernelFile.exists(path) ? path : nil
    }
}

extension QuotaAccount.Reading {
    /// Reads the text of `cpu.stat`; `nil` if it counts no periods, or more stopped ones than there were.
    ///
    /// It is read hundreds of times a second, so it is split at bytes and makes no table.
    init?(statistics text: String) {
        var (periods, throttled, microseconds): (UInt64?, UInt64?, UInt64?)
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            if let value = Self.number(in: line, after: "nr_periods ") {
                periods = value
            } else if let value = Self.number(in: line, after: "nr_throttled ") {
                throttled = value
            } else if let value = Self.number(in: line, after: "usage_usec ") {
                microseconds = value
            }
        }
        guard let periods, let throttled, throttled <= periods else { return nil }
        let used = microseconds.map { $0.multipliedReportingOverflow(by: 1000) }
        self.init(used: used.flatMap { $0.overflow ? nil : $0.partialValue }, periods: periods, throttled: throttled)
    }

    /// The number at the end of a line that begins with a key.
    private static func number(in line: Substring.UTF8View, after key: String) -> UInt64? {
        let name = key.utf8
        guard line.starts(with: name) else { return nil }
        return UInt64(Substring(line.dropFirst(name.count)))
    }
}

/// A small file of the kernel that stays open.
///
/// Threading: any thread; a reading begins at the start of the file.
final class OpenKernelFile: Sendable {
    private let descriptor: Int32
    private static let longest = 4096

    /// - Returns: `nil` if the file cannot be opened.
    init?(_ path: String) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Reads the text, up to 4 KiB; `nil` if it cannot be read.
    func read() -> String? {
        let text = unsafe String(unsafeUninitializedCapacity: Self.longest) { buffer in
            unsafe max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        return text.isEmpty ? nil : text
    }
}
