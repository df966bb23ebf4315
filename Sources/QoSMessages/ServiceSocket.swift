import Glibc
import QoSEventLoop
import QoSKernel

// Where a service's socket is, who may make it, and who is at its other end.
//
// A service of the user listens at `$XDG_RUNTIME_DIR/qos/NAME.sock`. The directory has the mode 0700 and belongs to the
// user, so no other user reaches the socket, whatever its mode is for a moment.
//
// Stale sockets. A socket file outlives its process. The service holds a lock on `NAME.sock.lock` beside it while it runs,
// and the kernel gives the lock back when the process ends, in whatever way. So who has the lock may remove the file.

/// A socket at one of its ends.
enum ServiceSocket {
    struct Listening: Sendable {
        let descriptor: Int32
        /// The file to remove at the end; `nil` for a socket of systemd's.
        let path: String?
        /// The descriptor of the lock; −1 for none.
        let lock: Int32
    }

    static var ownUser: UInt32 { geteuid() }
    static var ownPeer: ServicePeer { ServicePeer(pid: getpid(), user: geteuid(), group: getegid()) }

    // MARK: Places

    /// Returns the path of a service's socket, and makes its directory if it is asked to.
    static func path(of name: String, makes: Bool) throws(ServiceError) -> String {
        if name.hasPrefix("/") {
            guard name.utf8.count <= 100 else { throw unavailable("the path '\(name)' has more than 100 bytes") }
            return name
        }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, (1...64).contains(name.utf8.count), !name.hasPrefix(".") else {
            throw unavailable("'\(name)' is no name of a service")
        }
        let folder = try runtimeDirectory() + "/qos"
        if makes {
            if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST { throw unavailable("mkdir", folder) }
            try check(folder)
        }
        let path = "\(folder)/\(name).sock"
        guard path.utf8.count <= 107 else { throw unavailable("the path '\(path)' has more than 107 bytes") }
        return path
    }

    private static func runtimeDirectory() throws(ServiceError) -> String {
        if let value = unsafe getenv("XDG_RUNTIME_DIR") {
            let path = unsafe String(cString: value)
            if path.hasPrefix("/") { return path }
        }
        let path = "/run/user/\(geteuid())"
        guard unsafe access(path, F_OK) == 0 else {
            throw unavailable("XDG_RUNTIME_DIR is not set and there is no \(path): give the service a path")
        }
        return path
    }

    /// Checks that only the own user can reach what is in a directory.
    private static func check(_ folder: String) throws(ServiceError) {
        var status = stat()
        guard unsafe lstat(folder, &status) == 0 else { throw unavailable("lstat", folder) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw unavailable("\(folder) is not a directory of user \(geteuid()) with the mode 0700")
        }
    }

    // MARK: Listening

    /// Makes the socket of a service, or takes that of systemd.
    static func listen(_ name: String, admitsOthers: Bool) throws(ServiceError) -> Listening {
        if let descriptor = passedDescriptor(name) {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
                fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
            else { throw unavailable("fcntl", "the socket of LISTEN_FDS") }
            return Listening(descriptor: descriptor, path: nil, lock: -1)
        }
        let path = try path(of: name, makes: true)
        let lock = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw unavailable("open", path + ".lock") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            Glibc.close(lock)
            errno = code
            throw code == EWOULDBLOCK ? unavailable("another process serves \(path)") : unavailable("flock", path)
        }
        do throws(ServiceError) {
            return Listening(
                descriptor: try listen(at: path, mode: admitsOthers && name.hasPrefix("/") ? 0o666 : 0o600),
                path: path, lock: lock)
        } catch {
            Glibc.close(lock)
            throw error
        }
    }

    private static func listen(at path: String, mode: mode_t) throws(ServiceError) -> Int32 {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
            throw unavailable("\(path) exists and is no socket: give the service another path, or remove it")
        }
        if unsafe unlink(path) != 0, errno != ENOENT { throw unavailable("unlink", path) }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw unavailable("socket", path) }
        // Nobody can connect before `listen`.
        for (call, result) in [
            ("bind", { unsafe withAddress(path) { unsafe bind(descriptor, $0, $1) } }),
            ("chmod", { unsafe chmod(path, mode) }),
            ("listen", { Glibc.listen(descriptor, 128) }),
        ] as [(String, () -> Int32)] where result() != 0 {
            let failure = unavailable(call, path)
            Glibc.close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// The descriptors of systemd that services of this process have taken.
    private static let adopted = Lock<Set<Int32>>([])

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        var (answer, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer == 1
    }

    /// The socket that systemd has passed for a service (`sd_listen_fds(3)`); `nil` without one, and if a service of this
    /// process has taken it before.
    private static func passedDescriptor(_ name: String) -> Int32? {
        guard let pid = variable("LISTEN_PID").flatMap({ Int32($0) }), pid == getpid(),
            let count = variable("LISTEN_FDS").flatMap({ Int32($0) }), (1...1_024).contains(count)
        else { return nil }
        let names = variable("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        let index = names.prefix(Int(count)).firstIndex { $0 == name } ?? 0
        let descriptor = 3 + Int32(index)
        // A service that has ended has closed it, and the number may be anything by now. Another one may listen on it.
        return adopted.withLock({ $0.insert(descriptor).inserted }) && isListening(descriptor) ? descriptor : nil
    }

    /// The socket to the process that has started this one as a ``ChildService``; `nil` without one, and if a service
    /// of this process has taken it before. It is not passed on to children.
    static func takeParent() -> Int32? {
        let parts = variable(ServiceProcess.variable)?.split(separator: ":") ?? []
        guard parts.count == 2, let descriptor = Int32(parts[0]), let inode = UInt64(parts[1]) else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK,
            UInt64(status.st_ino) == inode, adopted.withLock({ $0.insert(descriptor).inserted })
        else { return nil }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        return descriptor
    }

    // MARK: Connecting

    /// Connects to a service.
    static func connect(to name: String) throws(ServiceError) -> (descriptor: Int32, peer: ServicePeer) {
        let path = try path(of: name, makes: false)
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw unavailable("socket", path) }
        guard unsafe withAddress(path, { unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let failure = unavailable("connect", path)
            Glibc.close(descriptor)
            throw failure
        }
        guard let (peer, _) = peer(of: descriptor) else {
            Glibc.close(descriptor)
            throw unavailable("getsockopt(SO_PEERCRED)", path)
        }
        return (descriptor, peer)
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            // Shorter than the field, which is zeroed.
            for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() { unsafe bytes[index] = byte }
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    // MARK: Peers

    /// Returns the process at the other end and its supplementary groups, by the kernel's word.
    static func peer(of descriptor: Int32) -> (ServicePeer, groups: [UInt32])? {
        // struct ucred: pid, uid, gid.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(12)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == 12 else {
            return nil
        }
        var groups = [UInt32](repeating: 0, count: 1_024)
        length = socklen_t(groups.count * 4)
        let peerGroups: Int32 = 59  // SO_PEERGROUPS
        let known = unsafe getsockopt(descriptor, SOL_SOCKET, peerGroups, &groups, &length) == 0 ? Int(length) / 4 : 0
        let peer = ServicePeer(
            pid: Int32(bitPattern: credentials[0]), user: credentials[1], group: credentials[2])
        return (peer, Array(groups.prefix(known)))
    }

    /// Says goodbye to a peer that is not taken, and closes its descriptor.
    static func refuse(_ descriptor: Int32, _ text: String) {
        var bytes: [UInt8] = []
        Frame(kind: .goodbye, content: WireFailure(.refused, text).content).write(to: &bytes)
        // A new socket has room for it.
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        Glibc.close(descriptor)
    }

    private static func unavailable(_ text: String) -> ServiceError {
        ServiceError(.serviceUnavailable(text), mayHaveBegun: false)
    }

    /// The error of a system call that has just failed.
    private static func unavailable(_ call: String, _ subject: String) -> ServiceError {
        unavailable("\(call) failed for \(subject): \(unsafe String(cString: strerror(errno)))")
    }
}

/// Accepts the connections of a socket, on the loop's thread.
final class ServiceListener: Sendable {
    /// Connections that are accepted before others have their turn.
    private static let acceptsPerTurn = 16
    /// The pause after the process had no descriptor left.
    private static let pause: UInt64 = 100_000_000

    private let socket: ServiceSocket.Listening
    private let loop: MessageLoop
    private let accepted: @Sendable (Int32) -> Void
    /// Touched on the loop's thread only.
    private let watch = Lock<DescriptorWatch?>(nil)

    private init(
        _ socket: ServiceSocket.Listening, _ loop: MessageLoop, _ accepted: @escaping @Sendable (Int32) -> Void
    ) {
        (self.socket, self.loop, self.accepted) = (socket, loop, accepted)
    }

    static func start(
        _ socket: ServiceSocket.Listening, on loop: MessageLoop, accepted: @escaping @Sendable (Int32) -> Void
    ) async throws(ServiceError) -> ServiceListener {
        let listener = ServiceListener(socket, loop, accepted)
        do throws(EventLoopError) {
            try await loop.loop.perform { () throws(EventLoopError) in try listener.listen() }
        } catch {
            listener.release()
            throw ServiceError(.serviceUnavailable("\(error)"), mayHaveBegun: false)
        }
        return listener
    }

    private func listen() throws(EventLoopError) {
        let made = try loop.loop.watchDescriptor(socket.descriptor, for: .readable) { _ in self.accept() }
        watch.withLock { $0 = made }
    }

    private func accept() {
        for _ in 0..<Self.acceptsPerTurn {
            let descriptor = acceptWithFlags(
                socket.descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
            if descriptor >= 0 {
                accepted(descriptor)
                continue
            }
            if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM {
                try? watch.withLock(\.self)?.update([])
                loop.setAlarm(for: self, at: MonotonicClock.nanoseconds().addingSaturating(Self.pause)) {
                    try? $0.watch.withLock(\.self)?.update(.readable)
                }
                return
            }
            if errno != EINTR && errno != ECONNABORTED { return }
        }
    }

    /// Stops listening, and removes the socket.
    func stop() async {
        try? await loop.loop.perform {
            self.watch.withLock { $0.take() }?.close()
            self.loop.setAlarm(for: self, at: nil) { _ in }
        }
        release()
    }

    private func release() {
        if let path = socket.path { _ = unsafe unlink(path) }
        Glibc.close(socket.descriptor)
        if socket.lock >= 0 { Glibc.close(socket.lock) }
    }
}

/// `accept4(2)`, which the importer does not bring in: the C library declares it for GNU programs only.
@_silgen_name("accept4")
private func acceptWithFlags(_ socket: Int32, _ address: OpaquePointer?, _ length: OpaquePointer?, _ flags: Int32)
    -> Int32
