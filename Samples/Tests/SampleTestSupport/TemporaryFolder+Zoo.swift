internal import Foundation
internal import Glibc

extension TemporaryFolder {
    /// Fills a folder with the kinds of entries that backup and sync both keep.
    ///
    /// - Parameter large: The size of the largest file, in bytes.
    public func makeZoo(in folder: String, large: Int) throws {
        try write("\(folder)/plain.txt", String(repeating: "a line of text\n", count: 5000))
        try write("\(folder)/empty", "")
        try write("\(folder)/large", bytes: SeededGenerator.noise(large, seed: 4))
        try write("\(folder)/deep/er/still/file", "down here")
        try makeFolder("\(folder)/empty folder")
        try makeLink("\(folder)/link", to: "plain.txt")
        try makeLink("\(folder)/dangling", to: "../no such\nplace")
        try makePipe("\(folder)/pipe")
        try setMode("\(folder)/deep/er", 0o750)
        try setMode("\(folder)/empty", 0o604)
        for name in [Array("new\nline".utf8), Array("bad".utf8) + [0xFF, 0xC0], Array("deep/\\\"'*?".utf8)] {
            try writeFile(Array("\(folder)/".utf8) + name)
        }
        try setTime("\(folder)/empty", -5, 123_456_789)
    }

    /// Writes a small file whose name is no text.
    public func writeFile(_ name: [UInt8]) throws {
        let bytes = Array((path + "/").utf8) + name + [0]
        let file = unsafe open(bytes.map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT, 0o640)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(file) }
        guard unsafe Glibc.write(file, "x", 1) == 1 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Sets the time of the last access and of the last change of an entry.
    public func setTime(_ name: String, _ seconds: Int, _ nanoseconds: Int) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        guard unsafe utimensat(AT_FDCWD, self[name], [time, time], 0) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// Whether there is an entry, a dangling link included.
    public func exists(_ name: String) -> Bool {
        var status = stat()
        return unsafe lstat(self[name], &status) == 0
    }
}
