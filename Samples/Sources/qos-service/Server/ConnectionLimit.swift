internal import Glibc
internal import HummingbirdCore

/// Stops accepting when the maximum number of connections is open. Further connections wait in the kernel's backlog.
///
/// The framework asks it on the listening loop. `ConnectionPlaces` decides which connections make room.
struct ConnectionLimit: AvailableConnectionsDelegate {
    /// The number of descriptors left for the index, its scan and the process itself.
    private static let reserve = 320
    /// The number of further descriptors for the walk of a very deep tree, if the system allows them.
    private static let depth = 2048

    let connections: Connections

    /// Returns the number of connections that the process has descriptors for, at most `wanted`. Raises its soft limit
    /// if it can.
    static func affordable(_ wanted: Int) -> Int {
        var limits = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limits) == 0 else { return wanted }
        let needed = rlim_t(wanted + reserve)
        let roomy = needed + rlim_t(depth)
        if limits.rlim_cur < roomy {
            limits.rlim_cur = min(roomy, limits.rlim_max)
            unsafe setrlimit(resource, &limits)
            unsafe getrlimit(resource, &limits)
        }
        return max(4, min(wanted, Int(clamping: limits.rlim_cur) - reserve))
    }

    func connectionOpened() {
        connections.take()
    }

    func connectionClosed() {
        connections.release()
    }

    func isAcceptingNewConnections() -> Bool {
        connections.isAccepting
    }
}
