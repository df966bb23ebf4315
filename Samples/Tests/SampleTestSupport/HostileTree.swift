internal import CFileSystem
internal import Foundation
internal import Glibc

/// A tree of everything that a file system allows, made from a seed: names of all bytes but the slash and zero, names that
/// differ in case or normal form only, times from long ago and far ahead, all modes, links of both kinds, pipes, holes,
/// access lists and attributes.
public struct HostileTree {
    /// What a tree may have.
    public struct Kinds: OptionSet, Sendable {
        /// The kinds as bits.
        public let rawValue: Int
        /// Makes a set of kinds from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Extended attributes and access lists.
        public static let attributes = Kinds(rawValue: 1)
        /// Several names of one file.
        public static let links = Kinds(rawValue: 2)
        /// Files with holes.
        public static let holes = Kinds(rawValue: 4)
        /// Modes that take rights from the owner.
        public static let modes = Kinds(rawValue: 8)
        /// All of them.
        public static let all: Kinds = [.attributes, .links, .holes, .modes]
    }

    /// The seeds of the tests: 12, or those of the variable `QOS_HOSTILE_SEEDS`, a number or a range such as `201-400`.
    public static let seeds: ClosedRange<UInt64> = {
        let text = ProcessInfo.processInfo.environment["QOS_HOSTILE_SEEDS"] ?? ""
        let bounds = text.split(separator: "-").compactMap { UInt64($0) }
        guard let last = bounds.last, last > 0 else { return 1...12 }
        return bounds.count > 1 ? min(bounds[0], last)...last : 1...last
    }()

    private static let deepest = 4
    /// Whole seconds: before 1677, 1735, around 1970, 2038, 2262, the ends of ext4 and XFS, and beyond.
    private static let seconds = [
        -11_676_096_000, -9_300_000_000, -9_223_372_037, -9_200_000_001, -7_420_000_000, -1, 0, 1, 1_700_000_000,
        2_147_483_648, 4_294_967_296, 9_199_999_999, 9_200_000_000, 9_223_372_037, 10_413_792_000, 15_032_385_535,
        16_299_260_000, 253_402_300_800,
    ]
    private static let texts = [
        "Name", "name", "NAME", "\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "-rf", "~", "*", "a\nb", " ",
        "end ", "\\x41", "\u{202E}gnp.exe", "con", "..a", ".hidden", "%2F", "'\"`$(id)",
    ]

    private let kinds: Kinds
    private var generator: SeededGenerator
    private var files: [(folder: Int32, name: [CChar])] = []

    /// Fills a folder that is there.
    @discardableResult
    public init(in path: String, seed: UInt64, kinds: Kinds = .all) throws {
        self.kinds = kinds
        generator = SeededGenerator(seed: seed)
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw CocoaError(.fileNoSuchFile) }
        fill(folder, depth: 0)
        close(folder)
    }

    /// Removes a tree with names that are no text.
    public static func remove(_ path: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "chmod -R u+rwx \"$0\" 2>/dev/null; rm -rf \"$0\"", path]
        try process.run()
        process.waitUntilExit()
    }

    private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

    private mutating func name() -> [CChar] {
        if number(3) == 0 { return Array(Self.texts[number(Self.texts.count)].utf8CString) }
        let length = number(12) == 0 ? 255 : 1 + number(20)
        let bytes = (0..<length).map { _ in UInt8.random(in: 1...255, using: &generator) }
        let name = bytes.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
        return name.map { CChar(bitPattern: $0) } + [0]
    }

    private mutating func fill(_ folder: Int32, depth: Int) {
        let own = files.count
        for _ in 0..<(2 + number(9)) {
            let name = name()
            switch number(10) {
            case 0, 1: makeFolder(name, in: folder, depth: depth)
            case 2: makeLink(name, in: folder)
            case 3: if unsafe mkfifoat(folder, name, 0o600) == 0 { finish(name, in: folder, isFile: false) }
            case 4: makeName(name, in: folder)
            default: makeFile(name, in: folder)
            }
        }
        // Links are made within one folder: the descriptors of others are closed by then.
        files.removeLast(files.count - own)
    }

    private mutating func makeFolder(_ name: [CChar], in folder: Int32, depth: Int) {
        guard depth < Self.deepest, unsafe mkdirat(folder, name, 0o700) == 0 else { return }
        let below = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard below >= 0 else { return }
        defer { close(below) }
        if kinds.contains(.attributes), number(4) == 0 { setList("system.posix_acl_default", of: below) }
        fill(below, depth: depth + 1)
        addAttributes(to: below)
        setTime(of: below)
        let modes: [mode_t] = kinds.contains(.modes) ? [0o755, 0o700, 0o1777, 0o2750, 0o555, 0o500] : [0o755, 0o700]
        _ = fchmod(below, modes[number(modes.count)])
    }

    private mutating func makeLink(_ name: [CChar], in folder: Int32) {
        let target = number(2) == 0 ? self.name() : Array("../../\u{301}nowhere".utf8CString)
        guard unsafe symlinkat(target, folder, name) == 0 else { return }
        let time = time()
        _ = unsafe utimensat(folder, name, [time, time], AT_SYMLINK_NOFOLLOW)
    }

    private mutating func makeName(_ name: [CChar], in folder: Int32) {
        guard kinds.contains(.links), let other = files.last, other.folder == folder else { return }
        _ = unsafe linkat(folder, other.name, folder, name, 0)
    }

    private mutating func makeFile(_ name: [CChar], in folder: Int32) {
        let file = unsafe openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        close(file)
        finish(name, in: folder, isFile: true)
        files.append((folder, name))
    }

    /// Gives a file or a pipe content, attributes, mode and time.
    private mutating func finish(_ name: [CChar], in folder: Int32, isFile: Bool) {
        let file = unsafe openat(folder, name, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        if isFile {
            let bytes = SeededGenerator.noise(number(3) == 0 ? number(300_000) : number(200), seed: generator.next())
            _ = unsafe write(file, bytes, bytes.count)
            if kinds.contains(.holes), number(6) == 0 { _ = ftruncate(file, off_t(1 + number(64 << 20))) }
            addAttributes(to: file)
        }
        setTime(of: file)
        let modes: [mode_t] =
            kinds.contains(.modes) ? [0o644, 0o600, 0, 0o4755, 0o2711, 0o444, 0o222] : [0o644, 0o600]
        _ = fchmod(file, modes[number(modes.count)])
    }

    private mutating func time() -> timespec {
        let seconds = Self.seconds[number(Self.seconds.count)]
        // Far times are kept to the microsecond.
        return timespec(tv_sec: seconds, tv_nsec: number(1_000_000) * 1000)
    }

    private mutating func setTime(of file: Int32) {
        let time = time()
        _ = unsafe futimens(file, [time, time])
    }

    private mutating func addAttributes(to file: Int32) {
        guard kinds.contains(.attributes) else { return }
        if number(4) == 0 {
            let value = SeededGenerator.noise(number(200), seed: generator.next())
            let name = Array("user.\u{E9}".utf8CString)
            _ = unsafe fsetxattr(file, name, value, value.count, 0)
        }
        if number(4) == 0 { setList("system.posix_acl_access", of: file) }
    }

    /// Sets an access list with a further user, acl(5): the version, and entries of tag, rights and number.
    private mutating func setList(_ attribute: String, of file: Int32) {
        var bytes: [UInt8] = [2, 0, 0, 0]
        func add(_ tag: UInt16, _ rights: UInt16, _ number: UInt32) {
            for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: tag >> UInt16(shift))) }
            for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: rights >> UInt16(shift))) }
            for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(shift))) }
        }
        add(1, 6, .max)
        add(2, UInt16(number(8)), UInt32(10_000 + number(100)))
        add(4, 4, .max)
        add(16, UInt16(number(8)), .max)
        add(32, 0, .max)
        _ = unsafe fsetxattr(file, attribute, bytes, bytes.count, 0)
    }
}
