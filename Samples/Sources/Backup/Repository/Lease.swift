internal import Foundation
internal import Glibc
internal import SafeFiles
internal import Synchronization

/// A file that says "a run is using the repository". Its owner touches it every 30 seconds.
///
/// A lease is over 120 seconds after its last touch, by the clock of the file system that holds it. It is over at once
/// if its process ran in this boot and this process namespace, and is gone. So a killed run holds up nobody for long,
/// and nobody unlocks by hand.
final class Lease: Sendable {
    /// The use of the repository.
    enum Use: String, Codable {
        case backup
        case read
        case prune
    }

    /// What the file says.
    struct Owner: Codable {
        var use: Use
        var host: String
        var process: Int32
        /// The boot and the process namespace in which the number of the process counts.
        var scope: String
    }

    private static let duration: Int64 = 120_000_000_000
    private static let renewal = Duration.seconds(30)

    private let folder: RepositoryFolder
    private let name: String
    private let touched: LastTouch
    private let renewing = Mutex<Task<Void, Never>?>(nil)

    /// Takes a lease. Any number of runs may hold one; a prune looks at those of others before it removes a file.
    init(_ use: Use, in folder: RepositoryFolder) throws {
        self.folder = folder
        name = Hexadecimal.text(RepositoryKeys.random(16))
        let owner = Owner(use: use, host: Self.host, process: getpid(), scope: Self.scope)
        let path = folder.path(.leases, name)
        let touched = LastTouch()
        self.touched = touched
        try folder.write(Array(try JSONEncoder().encode(owner)), to: path, .leases)
        let task = Task.detached(priority: .utility) {
            while (try? await Task.sleep(for: Self.renewal, tolerance: .seconds(5))) != nil {
                touched.renew(path, in: folder.storage)
            }
        }
        renewing.withLock { $0 = task }
    }

    deinit {
        release()
    }

    /// Gives the lease back.
    func release() {
        renewing.withLock { $0?.cancel() }
        try? folder.storage.remove(folder.path(.leases, name), .leases)
    }

    /// Whether nobody took it away because it had run out.
    var isHeld: Bool {
        get throws {
            try !touched.isOver(in: folder.storage) && folder.size(folder.path(.leases, name)) != nil
        }
    }

    /// The leases of others that are not over. Removes those that are.
    func others() throws -> [Owner] {
        let own = folder.path(.leases, name)
        touched.renew(own, in: folder.storage)
        guard let now = try folder.storage.modified(own) else { throw BackupError.leaseLost }
        return try folder.storage.names(folder.path(.leases)).filter { $0 != name }.compactMap { other in
            let path = folder.path(.leases, other)
            guard let touched = try folder.storage.modified(path) else { return nil }
            // The clock was set back. From now on the lease has the usual time, if its owner is gone.
            if touched > now.addingClamped(Self.duration) {
                try? folder.storage.touch(path)
            }
            let owner = (try? folder.read(path)).flatMap {
                try? JSONDecoder().decode(Owner.self, from: Data($0))
            }
            if now.subtractingClamped(touched) > Self.duration || owner.map(Self.isGone) == true {
                try folder.storage.remove(path, .leases)
                return nil
            }
            return owner ?? Owner(use: .backup, host: "an unknown host", process: 0, scope: "")
        }
    }

    private static func isGone(_ owner: Owner) -> Bool {
        owner.scope == scope && !scope.isEmpty && kill(owner.process, 0) != 0 && errno == ESRCH
    }

    /// The last touch that this process knows of. Where a touch may bring a lease back, one that ran out by this
    /// process's own clock stays lost, as when the machine slept.
    private final class LastTouch: Sendable {
        private let time = Mutex(ContinuousClock.now)

        func isOver(in storage: any RepositoryStorage) -> Bool {
            storage.touchMayRevive && time.withLock { $0.duration(to: .now) } > .nanoseconds(Lease.duration)
        }

        func renew(_ path: String, in storage: any RepositoryStorage) {
            let start = ContinuousClock.now
            guard !isOver(in: storage), (try? storage.touch(path)) != nil else { return }
            time.withLock { $0 = start }
        }
    }

    /// The name of this machine.
    static var host: String { ProcessInfo.processInfo.hostName }

    private static let scope: String = {
        guard let boot = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8),
            let space = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
        else { return "" }
        return boot.trimmingCharacters(in: .whitespacesAndNewlines) + " " + space
    }()
}
