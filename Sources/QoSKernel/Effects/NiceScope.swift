internal import Glibc

/// Among whom this process's nice values count: within its control group, or else within its session's autogroup
/// (sched(7), "The autogroup feature").
package enum NiceScope: Sendable, Hashable {
    /// The process has the control group to itself.
    case ownCgroup(path: String)
    /// The process leads its session, so that only its descendants share the autogroup.
    case ownAutogroup
    /// Others share the group, or it cannot be told.
    case shared(reason: String)

    /// The spread of nice values that follows; polite when in doubt.
    package var spread: NiceSpread {
        switch self {
        case .ownCgroup, .ownAutogroup: .own
        case .shared: .polite
        }
    }

    /// Decides from `/proc` and the control group's files; some file reads.
    ///
    /// - Parameters:
    ///   - root: where `proc` and `sys` are.
    ///   - process: the id of another process; `nil` is this one.
    package static func current(root: FileRoot = .real, process: Int32? = nil) -> NiceScope {
        let process = process.map { "\($0)" } ?? "self"
        do throws(KernelError) {
            for membership in try CgroupMembership.current(root: root, process: process) {
                if let scope = try scope(in: membership, root, process) { return scope }
            }
            return try autogroup(root, process)
        } catch {
            return .shared(reason: "\(error)")
        }
    }

    /// The scope by the nearest group that weighs its members against others; `nil` if there is none, so that the
    /// autogroup decides.
    private static func scope(
        in membership: CgroupMembership, _ root: FileRoot, _ process: String
    ) throws(KernelError) -> NiceScope? {
        let weighing: String?
        switch membership.hierarchy {
        case .v2:
            // The machine's root has no weight, nor has a group for which the controller is not enabled.
            weighing = membership.directories.first { KernelFile.exists(root.appending("\($0)/cpu.weight")) }
        case .v1:
            // Only the machine's root has a release agent; a container's own group is seen at the top as well.
            weighing = KernelFile.exists(root.appending("\(membership.own)/release_agent")) ? nil : membership.own
        }
        guard let weighing else { return nil }
        guard weighing == membership.own else {
            return .shared(reason: "the control group \(weighing) may hold other groups beside this process's")
        }
        let members = try KernelFile.read(root.appending("\(weighing)/cgroup.procs"))
            .split(whereSeparator: \.isWhitespace)
        guard try members == [Substring(identity(root, process).process)] else {
            return .shared(reason: "the control group \(weighing) holds other processes")
        }
        return .ownCgroup(path: weighing)
    }

    private static func autogroup(_ root: FileRoot, _ process: String) throws(KernelError) -> NiceScope {
        let enabled = try KernelFile.read(root.appending("/proc/sys/kernel/sched_autogroup_enabled"))
        guard enabled.hasPrefix("1") else { return .shared(reason: "autogroups are switched off") }
        guard try KernelFile.read(root.appending("/proc/\(process)/autogroup")).hasPrefix("/autogroup-") else {
            return .shared(reason: "the process is in no autogroup")
        }
        let identity = try identity(root, process)
        guard identity.process == identity.session else {
            return .shared(reason: "the autogroup belongs to the session of process \(identity.session)")
        }
        return .ownAutogroup
    }

    /// The process's id and its session's, the first and sixth field of `/proc/PID/stat` (proc_pid_stat(5)).
    private static func identity(
        _ root: FileRoot, _ process: String
    ) throws(KernelError) -> (process: String, session: String) {
        let path = root.appending("/proc/\(process)/stat")
        let text = try KernelFile.read(path)
        // The name, in parentheses, may contain anything; after it comes the third field.
        guard let close = text.lastIndex(of: ")"), let process = text.split(separator: " ").first else {
            throw KernelError(.readFile, code: EBADMSG, subject: path)
        }
        let fields = text[close...].dropFirst().split(separator: " ")
        guard fields.count > 3 else { throw KernelError(.readFile, code: EBADMSG, subject: path) }
        return (String(process), String(fields[3]))
    }
}

/// The spread of an unprivileged process's classes over the nice values.
///
/// Nice weighs threads within one control group or autogroup. Among the process's own threads only, the spread can
/// be wide; where others share the group, every step down is a step behind them.
package enum NiceSpread: String, Sendable, Hashable, CaseIterable {
    /// The process has a control group or autogroup to itself.
    case own
    /// Other processes share the group, or may do so. The classes stay close to the process's first nice value.
    case polite
}
