internal import Foundation
internal import Glibc
internal import TreeScan

/// The secret that clients of an agent show.
public enum AgentToken {
    /// Reads the token from a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. No other user may have a right to it.
    ///   - makes: Whether a missing file is made, with a new token and the mode 0600.
    /// - Throws: `AgentError` when the file cannot be read or made, is open to other users, or holds no token.
    public static func load(_ path: String, makes: Bool) throws(AgentError) -> String {
        if makes {
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if file >= 0 {
                defer { close(file) }
                let token = (0..<4).map { _ in
                    let text = String(UInt64.random(in: 0...UInt64.max), radix: 36)
                    return String(repeating: "0", count: 13 - text.count) + text
                }.joined()
                guard unsafe write(file, token + "\n", token.utf8.count + 1) == token.utf8.count + 1, fsync(file) == 0
                else {
                    unsafe unlink(path)
                    throw AgentError("The token cannot be written to \(path). Make room, or choose --token-file.")
                }
                return token
            }
            guard errno == EEXIST else {
                throw AgentError(
                    "The token file \(path) cannot be made: \(SystemError.text(errno)). Choose another --token-file.")
            }
        }
        return try read(path)
    }

    private static func read(_ path: String) throws(AgentError) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw AgentError(
                "The token file \(path) cannot be read: \(SystemError.text(errno)). Copy the agent's file, or choose "
                    + "another --token-file.")
        }
        defer { close(file) }
        guard let status = EntryStatus(descriptor: file), status.kind == .regular, status.mode & 0o077 == 0 else {
            throw AgentError("The token file \(path) is open to other users. Give it the mode 0600: chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count >= 16, text.utf8.allSatisfy({ isalnum(Int32($0)) != 0 || $0 == 0x2D || $0 == 0x5F })
        else {
            throw AgentError("\(path) holds no token. Write 16 or more letters, digits, - or _, or remove the file.")
        }
        return text
    }
}

/// The reason why an agent does not start, or an address is none. Its text says what to do.
public struct AgentError: Error, Hashable, CustomStringConvertible {
    /// The failure and its remedy.
    public let description: String

    /// The token would be synced to other machines.
    public static func tokenInside(_ path: String, folder: String) -> AgentError {
        AgentError("The token file \(path) would be inside \(folder). Name a place outside of it with --token-file.")
    }

    init(_ description: String) {
        self.description = description
    }
}
