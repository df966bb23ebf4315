internal import Foundation
internal import Glibc
internal import TreeScan

/// The secret of the clients.
enum AccessToken {
    /// Reads the token from a file, or makes a file with a new one. Only this user may read the file.
    ///
    /// - Throws: `SettingsError` when the file cannot be read or made, or holds no token.
    static func load(_ path: String) throws(SettingsError) -> String {
        let token = (0..<4).map { _ in String(UInt32.random(in: 0...UInt32.max), radix: 36) }.joined()
        let made = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if made >= 0 {
            defer { close(made) }
            guard unsafe write(made, token, token.utf8.count) == token.utf8.count else {
                unsafe unlink(path)
                throw SettingsError(
                    description: "The token cannot be written to \(path). Make room, or choose --token-file.")
            }
            return token
        }
        guard errno == EEXIST, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw SettingsError(
                description:
                    "The token in \(path) cannot be read: \(SystemError.text(errno)). Choose another --token-file."
            )
        }
        let found = text.trimmingCharacters(in: .whitespacesAndNewlines)
        // The characters that a cookie can hold.
        guard found.utf8.count >= 16, found.utf8.allSatisfy({ isalnum(Int32($0)) != 0 || $0 == 0x2D || $0 == 0x5F })
        else {
            throw SettingsError(
                description: "\(path) holds no token. Write 16 or more letters, digits, - or _, or remove the file."
            )
        }
        return found
    }
}
