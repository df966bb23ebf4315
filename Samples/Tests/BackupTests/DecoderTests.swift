import Chunking
import Foundation
import SampleTestSupport
import Testing

@testable import Backup

@Suite("The format")
struct DecoderTests {
    @Test("the test vectors of the page")
    func vectors() {
        let keys = RepositoryKeys(master: Array(0..<32))
        #expect(keys.name(of: []).description == "f8cebde9291e66da318666ce7eb4ce86623da6cdc948f0592c7139887ed927d7")
        #expect(
            keys.name(of: Array("hello".utf8)).description
                == "d2f7b54385da119786e3dda838f073604bc7cdcd62a9057279273839a424be3c")
        #expect(keys.gear.word(of: 0) == 0xdcdb_0ba0_8ce7_2eb5)
        #expect(keys.gear.word(of: 255) == 0x599b_ea15_a5fa_3e58)
    }

    /// Skipped, with a line, on a machine without Python, its package `cryptography` or libzstd.
    @Test("a decoder in another language, written from the page alone, gives back the tree")
    func python() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try await world.backUp()
        try world.temporary.write("password", String(decoding: BackupWorld.passphrase, as: UTF8.self) + "\n")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("decode.py")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path, world.repositoryPath, world.temporary["password"], world.target]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus != 77, process.terminationStatus != 127 else {
            print("The decoder was not run: python3, its package 'cryptography' or libzstd is missing.")
            return
        }
        #expect(process.terminationStatus == 0)
        #expect(TreePicture(world.target).difference(from: TreePicture(world.source)) == [])
    }
}
