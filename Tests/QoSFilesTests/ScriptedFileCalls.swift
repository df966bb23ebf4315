import QoSKernel
import QoSRuntimeTestSupport

/// The kernel's calls for files, of which some return a scripted result first. Counts descriptors and remembers calls.
final class ScriptedFileCalls: FileCalls {
    /// The calls that can be scripted.
    enum Call: Hashable, Sendable {
        case open, close, read, uncachedRead, readFromMemory, write, uncachedWrite, copy, synchronize, writeBack, rename
        case synchronizeFileSystem, status, statusOfPath, truncate, setPermissions, link
    }

    /// A scripted result.
    enum Result: Sendable {
        /// A negated error number, or any other value, without a call.
        case value(Int)
        /// The real call, with at most this many bytes.
        case short(Int)
        /// The real call.
        case real
    }

    private struct State: Sendable {
        var script: [Call: [Result]] = [:]
        var always: [Call: Result] = [:]
        var open = 0
        var advice: [FileAdvice: [Range<Int64>]] = [:]
        var counts: [Call: Int] = [:]
    }

    private let real = LinuxFileCalls()
    private let state = Lock(State())

    init(_ script: [Call: [Result]] = [:], always: [Call: Result] = [:]) {
        state.withLock { ($0.script, $0.always) = (script, always) }
    }

    /// The number of descriptors that are open.
    var openDescriptors: Int { state.withLock { $0.open } }

    /// The ranges for which an advice was given.
    func advised(_ advice: FileAdvice) -> [Range<Int64>] { state.withLock { $0.advice[advice] ?? [] } }

    /// The number of calls.
    func count(of call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }

    private func next(_ call: Call) -> Result {
        state.withLock { state in
            state.counts[call, default: 0] += 1
            if let always = state.always[call] { return always }
            guard state.script[call]?.isEmpty == false else { return .real }
            return state.script[call]?.removeFirst() ?? .real
        }
    }

    private func scripted(_ call: Call, _ body: (_ most: Int) -> Int) -> Int {
        switch next(call) {
        case .value(let value): value
        case .short(let most): body(most)
        case .real: body(.max)
        }
    }

    func open(_ path: String, flags: Int32, permissions: UInt32) -> Int32 {
        let result = Int32(
            clamping: scripted(.open) { _ in Int(real.open(path, flags: flags, permissions: permissions)) })
        if result >= 0 { state.withLock { $0.open += 1 } }
        return result
    }

    func close(_ descriptor: Int32) -> Int32 {
        state.withLock { $0.open -= 1 }
        let result = real.close(descriptor)
        if case .value(let value) = next(.close) { return Int32(clamping: value) }
        return result
    }

    func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ manner: FileManner
    ) -> Int {
        let call: Call =
            switch manner {
            case .plain: .read
            case .fromMemory: .readFromMemory
            case .uncached: .uncachedRead
            }
        return scripted(call) { most in
            unsafe real.read(
                descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(most)), at: offset, manner)
        }
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ manner: FileManner) -> Int {
        scripted(manner == .uncached ? .uncachedWrite : .write) { most in
            unsafe real.write(
                descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(most)), at: offset, manner)
        }
    }

    func copy(from: Int32, at: Int64, to: Int32, at target: Int64, count: Int) -> Int {
        scripted(.copy) { real.copy(from: from, at: at, to: to, at: target, count: min(count, $0)) }
    }

    func synchronize(_ descriptor: Int32, dataOnly: Bool) -> Int32 {
        Int32(clamping: scripted(.synchronize) { _ in Int(real.synchronize(descriptor, dataOnly: dataOnly)) })
    }

    func synchronizeFileSystem(_ descriptor: Int32) -> Int32 {
        Int32(clamping: scripted(.synchronizeFileSystem) { _ in Int(real.synchronizeFileSystem(descriptor)) })
    }

    func writeBack(_ descriptor: Int32, from offset: Int64, count: Int64, waits: Bool) -> Int32 {
        Int32(
            clamping: scripted(.writeBack) { _ in
                Int(real.writeBack(descriptor, from: offset, count: count, waits: waits))
            })
    }

    func advise(_ descriptor: Int32, from offset: Int64, count: Int64, _ advice: FileAdvice) {
        state.withLock { $0.advice[advice, default: []].append(offset..<offset + count) }
        real.advise(descriptor, from: offset, count: count, advice)
    }

    func status(_ descriptor: Int32) -> (result: Int32, status: FileStatus) {
        if case .value(let value) = next(.status) { return (Int32(clamping: value), FileStatus()) }
        return real.status(descriptor)
    }

    func status(of path: String) -> (result: Int32, status: FileStatus) {
        if case .value(let value) = next(.statusOfPath) { return (Int32(clamping: value), FileStatus()) }
        return real.status(of: path)
    }

    func truncate(_ descriptor: Int32, to size: Int64) -> Int32 {
        Int32(clamping: scripted(.truncate) { _ in Int(real.truncate(descriptor, to: size)) })
    }

    func setPermissions(_ descriptor: Int32, _ permissions: UInt32) -> Int32 {
        Int32(clamping: scripted(.setPermissions) { _ in Int(real.setPermissions(descriptor, permissions)) })
    }

    func rename(_ path: String, to new: String, replacing: Bool) -> Int32 {
        Int32(clamping: scripted(.rename) { _ in Int(real.rename(path, to: new, replacing: replacing)) })
    }

    func link(_ path: String, to new: String) -> Int32 {
        Int32(clamping: scripted(.link) { _ in Int(real.link(path, to: new)) })
    }

    func remove(_ path: String) -> Int32 { real.remove(path) }
}
