import Glibc
import QoSFileTestSupport
import Testing

@testable import QoSKernel

@Suite("The entries of a directory")
struct FolderReaderTests {
    @Test("S4 a name that is longer than the field of a dirent is read to its end")
    func longName() throws {
        let name = [UInt8](repeating: UInt8(ascii: "x"), count: 300)
        let offset = try #require(MemoryLayout<dirent>.offset(of: \dirent.d_name))
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 8)
        defer { unsafe memory.deallocate() }
        for (index, byte) in (name + [0]).enumerated() { unsafe memory[offset + index] = byte }
        guard let address = memory.baseAddress else { return }
        let found = unsafe FolderReader.nameBytes(of: address.assumingMemoryBound(to: dirent.self))
        #expect(found == name)
    }

    @Test("S4 a name that is not UTF-8 is marked, and shown with replacements")
    func badName() throws {
        let folder = try TemporaryFolder("qos-reader")
        try folder.write("a")
        let path = (Array(folder["b"].utf8) + [0xe9, 0]).map { CChar(truncatingIfNeeded: $0) }
        try #require(unsafe mkdir(path, 0o700) == 0)
        defer { unsafe rmdir(path) }
        let (result, entries) = FolderReader.read(folder.path)
        #expect(result == 0)
        #expect(
            entries == [
                FolderReader.Entry(name: "a", kind: .regular),
                FolderReader.Entry(name: "b\u{fffd}", kind: .directory, isText: false),
            ])
    }
}
