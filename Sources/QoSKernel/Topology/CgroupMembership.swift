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
    /// - Throws: `read` when the process's `cgroup` file cannot be read.
    static func current(
        of controller: String = "cpu", root: FileRoot, process: String = "self"
    ) throws(KernelError) -> [CgroupMembership] {
        let text = try KernelFile.read(root.appending("/proc/\(process)/cgroup"))
        return text.split(separator: "\n").compactMap { line in
            membership(line: line, controller: controller, root: root)
        }
    }

    private static func membership(line: Substring, controller: String, root: FileRoot) -> CgroupMembership? {
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
        return CgroupMembership(hierarchy: hierarchy, directories: visible(path: fields[2], mount: mount, root: root))
    }

    /// The group's directory and its ancestors.
    ///
    /// Only the mount point if the group is not visible below it. That is so in a container without a cgroup namespace:
    /// its own group is mounted there.
    private static func visible(path: Substring, mount: String, root: FileRoot) -> [String] {
        var names = path.split(separator: "/").map(String.init)
        let own = ([mount] + names).joined(separator: "/")
        guard !names.contains(".."), KernelFile.exists(root.appending(own)) else { return [mount] }
        var directories: [String] = []
        while !names.isEmpty {
            directories.append(([mount] + names).joined(separator: "/"))
            names.removeLast()
        }
        return directories + [mount]
    }
}
