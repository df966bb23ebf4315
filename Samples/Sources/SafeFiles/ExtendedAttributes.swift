internal import CFileSystem
internal import Glibc

/// The extended attributes of an open file or folder, xattr(7).
public enum ExtendedAttributes {
    private static let longest = 1 << 20

    /// Returns the names, sorted by their bytes; none where the file system has no attributes. Nil on failure, with
    /// `errno` set.
    public static func names(of file: Int32) -> [[UInt8]]? {
        guard let names = unsafe value({ unsafe flistxattr(file, $0, $1) }) else {
            return errno == ENOTSUP || errno == EPERM || errno == EACCES ? [] : nil
        }
        return names.split(separator: 0).map { Array($0) }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns the value of an attribute; nil if it may not be read.
    public static func value(of name: [UInt8], of file: Int32) -> [UInt8]? {
        let terminated = name.terminated
        return unsafe value { unsafe fgetxattr(file, terminated, $0, $1) }
    }

    /// Sets an attribute. Returns whether that could be done.
    public static func set(_ name: [UInt8], to value: [UInt8], of file: Int32) -> Bool {
        unsafe fsetxattr(file, name.terminated, value, value.count, 0) == 0
    }

    /// Removes the attributes that a file has and should not have, such as an access list that it got from its folder.
    ///
    /// What the system itself gives to each file stays: labels of security modules.
    ///
    /// - Returns: The names of those that could not be removed.
    public static func removeSurplus(of file: Int32, keeping names: some Sequence<[UInt8]>) -> [[UInt8]] {
        let wanted = Set(names)
        return (Self.names(of: file) ?? []).filter { name in
            guard !wanted.contains(name), isOfUser(name) else { return false }
            return unsafe fremovexattr(file, name.terminated) != 0 && errno != ENODATA
        }
    }

    /// The attributes that people and programs gave a file, by name; nil where the file system has none at all, or they
    /// cannot be read. One that may not be read is left out.
    public static func all(of file: Int32) -> [[UInt8]: [UInt8]]? {
        // Most files have none.
        guard flistxattr(file, nil, 0) >= 0, let names = names(of: file) else { return nil }
        var found: [[UInt8]: [UInt8]] = [:]
        for name in names where isOfUser(name) { found[name] = value(of: name, of: file) }
        return found
    }

    /// Sets and removes some attributes.
    ///
    /// - Returns: The names of those that could not be set or removed.
    public static func change(
        _ file: Int32, setting values: [[UInt8]: [UInt8]], removing names: some Sequence<[UInt8]> = []
    ) -> [[UInt8]] {
        var lost: [[UInt8]] = []
        for name in names where isOfUser(name) {
            if unsafe fremovexattr(file, name.terminated) != 0, errno != ENODATA { lost.append(name) }
        }
        // Access lists last: they may take the right to set the others.
        for isList in [false, true] {
            for (name, value) in values where name.starts(with: "system.".utf8) == isList {
                if !isOfUser(name) || !set(name, to: value, of: file) { lost.append(name) }
            }
        }
        return lost
    }

    /// Gives a file some attributes, and no others.
    ///
    /// What the system itself gives to each file stays as it is.
    ///
    /// - Returns: The names of those that could not be set or removed.
    public static func replace(of file: Int32, by values: [[UInt8]: [UInt8]]) -> [[UInt8]] {
        removeSurplus(of: file, keeping: values.keys) + change(file, setting: values)
    }

    /// Whether people and programs give a file the attribute, and not the system alone.
    public static func isOfUser(_ name: [UInt8]) -> Bool {
        ["user.", "trusted.", "system.posix_acl_", "security.capability"].contains { name.starts(with: $0.utf8) }
    }

    /// Calls twice: for the length and for the bytes; again if the value grew meanwhile.
    private static func value(_ call: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> [UInt8]? {
        while true {
            let length = call(nil, 0)
            guard length > 0 else { return length == 0 ? [] : nil }
            guard length <= longest else { return nil }
            var buffer = [CChar](repeating: 0, count: length)
            let got = unsafe buffer.withUnsafeMutableBufferPointer { unsafe call($0.baseAddress, $0.count) }
            if got >= 0 { return buffer.prefix(got).map { UInt8(bitPattern: $0) } }
            guard errno == ERANGE else { return nil }
        }
    }
}
