internal import Glibc
package import QoSCore

/// Reads the free space of file systems (statvfs(3)).
///
/// Any thread may call it. A network file system whose server does not answer may block it.
package struct DiskReader: Sendable {
    /// ST_RDONLY: nothing can be written, so that full is its usual state.
    private static let readOnly: UInt = 1

    private let paths: [String]

    /// - Parameter paths: a file or directory on each file system.
    package init(paths: [String]) {
        self.paths = paths
    }

    /// Reads the file system that has the smallest free share.
    package func read() -> Reading<SystemReadings.Room> {
        var tightest: SystemReadings.Room?
        var problem = "no file system is watched"
        for path in paths {
            var status = statvfs()
            guard unsafe statvfs(path, &status) == 0 else {
                problem = "\(KernelError(.readFileSystem, code: errno, subject: path))"
                continue
            }
            guard status.f_flag & Self.readOnly == 0 else {
                problem = "\(path) is read-only"
                continue
            }
            let block = UInt64(status.f_frsize)
            let (free, whole) = (
                UInt64(status.f_bavail).multipliedReportingOverflow(by: block),
                UInt64(status.f_blocks).multipliedReportingOverflow(by: block)
            )
            guard !free.overflow, !whole.overflow, whole.partialValue > 0 else {
                problem = "\(path) has no size"
                continue
            }
            let room = SystemReadings.Room(free: free.partialValue, whole: whole.partialValue, place: path)
            if room.share < tightest?.share ?? .infinity { tightest = room }
        }
        return tightest.map { .known($0) } ?? .unknown(problem)
    }
}
