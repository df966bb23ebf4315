internal import CFileSystem
internal import Foundation
internal import Glibc

/// All that can be seen of a tree, by calls of the system alone: what a restore must give back.
public struct TreePicture: Equatable, CustomStringConvertible {
    /// One line for each entry.
    public private(set) var lines: [String] = []

    /// Looks at the tree at `path`.
    public init(_ path: String, times: Bool = true) {
        var inodes: [UInt64: String] = [:]
        add(Array(path.utf8), "", &inodes, times)
    }

    /// All lines.
    public var description: String { "\n" + lines.joined(separator: "\n") }

    /// The lines that are in one of two pictures only.
    public func difference(from other: TreePicture) -> [String] {
        lines.filter { !other.lines.contains($0) }.map { "+ " + $0 }
            + other.lines.filter { !lines.contains($0) }.map { "- " + $0 }
    }

    private mutating func add(_ path: [UInt8], _ name: String, _ inodes: inout [UInt64: String], _ times: Bool) {
        let text = path.map { CChar(bitPattern: $0) } + [0]
        var status = stat()
        guard unsafe lstat(text, &status) == 0 else { return lines.append("\(name) cannot be looked at") }
        var line = "\(name) mode \(String(status.st_mode, radix: 8)) owner \(status.st_uid):\(status.st_gid)"
        if times { line += " time \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)" }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            if status.st_nlink > 1 {
                // By its first name: a number would be another one where a file before it is missing.
                let first = inodes[UInt64(status.st_ino)] ?? name
                inodes[UInt64(status.st_ino)] = first
                line += " links \(status.st_nlink) file <\(first)>"
            }
            // Few blocks for its size: a sparse file stays sparse.
            line += " size \(status.st_size) sparse \(status.st_blocks * 512 < status.st_size / 2)"
            line += " hash \(Self.hash(text)) \(attributes(text))"
        case S_IFLNK:
            var target = [CChar](repeating: 0, count: 4097)
            let length = unsafe readlink(text, &target, 4096)
            line += " -> \(target.prefix(max(0, length)))"
        case S_IFDIR: line += " \(attributes(text))"
        default: break
        }
        lines.append(line)
        if status.st_mode & S_IFMT == S_IFDIR {
            for entry in Self.names(text).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                add(path + [47] + entry, name + "/" + entry.map { String($0) }.joined(separator: "."), &inodes, times)
            }
        }
    }

    private static func names(_ path: [CChar]) -> [[UInt8]] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = unsafe readdir(stream) {
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let name = unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        }
        return names
    }

    private static func hash(_ path: [CChar]) -> UInt64 {
        let file = unsafe open(path, O_RDONLY)
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var hash: UInt64 = 14_695_981_039_346_656_037
        while true {
            let count = unsafe read(file, &buffer, buffer.count)
            guard count > 0 else { return hash }
            unsafe buffer.withUnsafeBytes { bytes in
                for index in 0..<count { hash = unsafe (hash ^ UInt64(bytes[index])) &* 1_099_511_628_211 }
            }
        }
    }

    private func attributes(_ path: [CChar]) -> String {
        var names = [CChar](repeating: 0, count: 4096)
        let length = unsafe llistxattr(path, &names, names.count)
        return names.prefix(max(0, length)).split(separator: 0).map { name in
            var value = [UInt8](repeating: 0, count: 4096)
            let count = unsafe lgetxattr(path, Array(name) + [0], &value, value.count)
            return "\(name.map { UInt8(bitPattern: $0) })=\(value.prefix(max(0, count)))"
        }.sorted().joined(separator: " ")
    }
}
