internal import Glibc

extension Collection where Element == UInt8 {
    /// The bytes of a name as an argument of system calls, with the terminator.
    public var terminated: [CChar] {
        map { CChar(bitPattern: $0) } + [0]
    }
}

/// Symbolic links, by the bytes of their targets.
public enum LinkTarget {
    /// Reads the target of the link `name` in a folder, readlinkat(2); nil on failure, with `errno` set.
    ///
    /// With an empty name, the descriptor is that of the link itself (`O_PATH`).
    public static func read(_ name: some Collection<UInt8>, in folder: Int32) -> [UInt8]? {
        var length = -1
        let target = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX) + 1) { buffer, count in
            length = unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                unsafe text.baseAddress.map { unsafe readlinkat(folder, name.terminated, $0, text.count) } ?? -1
            }
            count = Swift.max(0, length)
        }
        return length < 0 ? nil : target
    }
}
