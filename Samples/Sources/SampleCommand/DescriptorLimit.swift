internal import Glibc

/// The limit of open files of this process.
package enum DescriptorLimit {
    /// The descriptors that a walk of the deepest tree needs: a path of 4,096 bytes has 2,047 folders.
    private static let wanted: rlim_t = 4096

    /// Raises the soft limit, as far as the hard one allows. A walk has each folder above its place open.
    package static func raise() {
        var limits = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limits) == 0, limits.rlim_cur < wanted else { return }
        limits.rlim_cur = min(wanted, limits.rlim_max)
        unsafe setrlimit(resource, &limits)
    }
}
