import Glibc

/// Small files of the kernel.
enum SystemFile {
    /// The text, up to 64 KiB; `nil` when it cannot be read.
    static func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while text.count < buffer.count {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count <= 0 { break }
            text += buffer.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
