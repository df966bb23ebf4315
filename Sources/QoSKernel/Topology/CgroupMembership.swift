internal import Glibc

/// Which control group governs a process's use of processors or of memory, from `/proc/PID/cgroup` (cgroups(7)).
struct CgroupMembership: Sendable, Hashable {
    /// The hierarchy whose controller it is.
    enum Hierarchy: Sendable, Hashable {
        /// The unified one: `cpu.max`, `cpu.weight`.
        case v2
        /// The `cpu` controller's own: `cpu.cfs_quota_us`, `cpu.shares`.
        case v1
    }

    /// The folder of the controller's files.
    let hierarchy: Hierarchy

    /// The mount point and the group's directories below it, from the group itself up to the mount point.
    ///
    /// Absolute as on a real machine; they are below the ``FileRoot`` that was read.
    let directories: [String]

    /// The group's own directory.
    var own: String { directories[0] }

    /// The mount point.
    var mount: String { directories[directories.count - 1] }

    /// Whether the group is the top of what is visible: the machine's, or that of a container's namespace.
    var isTop: Bool { directories.count == 1 }

    /// Every membership that a controller can be in: v1 if the machine has it mounted, else v2.
    ///
    /// - Parameter process: the id of another process, or `self`.
    /// - Throws: `read` when the process's `cgroup` file cannot be read, or the group that is mounted is not one in
    ///   which the process is.
    static func current(
        of controller: String = "cpu", root: FileRoot, process: String = "self"
    ) throws(KernelError) -> [CgroupMembership] {
        let text = try KernelFile.read(root.appending("/proc/\(process)/cgroup"))
        var memberships: [CgroupMembership] = []
        for line in text.split(separator: "\n") {
            if let found = try membership(line: line, controller: controller, root: root) { memberships.append(found) }
        }
        return memberships
    }

    private static func membership(
        line: Substring, controller: String, root: FileRoot
    ) throws(KernelError) -> CgroupMembership? {
        // hierarchy-id:controllers:path, where the path may contain colons.
        let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[2].hasPrefix("/") else { return nil }
        let controllers = fields[1]
        let mounts: [String]
        if fields[0] == "0", controllers.isEmpty {
            mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        } else if controllers.split(separator: ",").contains(where: { $0 == controller }) {
            mounts = ["/sys/fs/cgroup/\(controllers)", "/sys/fs/cgroup/\(controller)"]
        } else {
            return nil
        }
        let hierarchy: Hierarchy = controllers.isEmpty ? .v2 : .v1
        // A tmpfs at /sys/fs/cgroup is not the unified hierarchy; its files are.
        guard let mount = mounts.first(where: { KernelFile.exists(root.appending("\($0)/cgroup.procs")) }) else {
            return nil
        }
        guard var names = visible(path: fields[2], mount: mount, root: root) else {
            throw KernelError(.readFile, code: ENOENT, subject: root.appending("\(mount)\(fields[2])"))
        }
        var directories: [String] = []
        while !names.isEmpty {
            directories.append(([mount] + names).joined(separator: "/"))
            names.removeLast()
        }
        return CgroupMembership(hierarchy: hierarchy, directories: directories + [mount])
    }

    /// The way from the mount point down to the process's group, or as far as it can be known; `nil` if the group that
    /// is mounted is not one in which the process is.
    ///
    /// A container without a cgroup namespace has its own group at the mount point, with the path that it has on the
    /// machine. A process of another namespace has a path that begins with `..` (cgroup_namespaces(7)).
    private static func visible(path: Substring, mount: String, root: FileRoot) -> [String]? {
        let names = path.split(separator: "/").map(String.init)
        let own = ([mount] + names).joined(separator: "/")
        if !names.contains(".."), KernelFile.exists(root.appending(own)) { return names }
        guard let top = mountedGroup(at: mount, root: root) else { return [] }
        guard names.starts(with: top) else {
            // What lies between an ancestor of the namespace's own top and that top has no names here.
            return !top.isEmpty && top.allSatisfy { $0 == ".." } ? [] : nil
        }
        let below = Array(names.dropFirst(top.count))
        return below.contains("..") ? nil : below
    }

    /// The path of the group that is mounted at a place; `nil` if the table of mounts does not say
    /// (proc_pid_mountinfo(5)).
    private static func mountedGroup(at mount: String, root: FileRoot) -> [String]? {
        guard let text = try? KernelFile.read(root.appending("/proc/self/mountinfo")) else { return nil }
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        // Of several mounts at a place, the last one is seen.
        guard let line = lines.last(where: { $0.count > 4 && $0[4] == mount }) else { return nil }
        return line[3].split(separator: "/").map(unescaped)
    }

    /// Undoes the table's way of writing blanks and backslashes, `\134`.
    private static func unescaped(_ name: Substring) -> String {
        let pieces = name.split(separator: "\\", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(String(pieces[0])) { result, piece in
            guard let code = UInt8(piece.prefix(3), radix: 8) else { return "\(result)\\\(piece)" }
            return "\(result)\(Unicode.Scalar(code))\(piece.dropFirst(3))"
        }
    }
}
