import Glibc
import QoSCore
import QoSFileTestSupport
import QoSKernel
import Testing

@testable import QoSFiles

/// What is dropped from the page cache, by the calls that are made.
@Suite("The page cache stays as it was")
struct PageCacheTests {
    private let folder: TemporaryFolder
    private let size = 256 << 10

    init() throws { folder = try TemporaryFolder("qos-cache") }

    private func file(_ calls: any FileCalls, formerSize: Int64 = 0) throws -> (Int32, PageCacheManners) {
        let descriptor = calls.open(folder["data"], flags: O_RDWR | O_CREAT, permissions: 0o600)
        try #require(descriptor >= 0)
        return (descriptor, PageCacheManners(calls: calls, formerSize: formerSize))
    }

    private func read(
        _ manners: PageCacheManners, _ descriptor: Int32, _ qosClass: QoSClass, readsAhead: Bool = true
    ) -> Int {
        var bytes = [UInt8](repeating: 0, count: size)
        return unsafe bytes.withUnsafeMutableBytes {
            unsafe manners.read(
                descriptor, into: $0, at: 0,
                for: .init(qosClass: qosClass, bytes: size, isAlone: false, readsAhead: readsAhead))
        }
    }

    private func write(
        _ manners: PageCacheManners, _ descriptor: Int32, _ qosClass: QoSClass, at offset: Int64 = 0, alone: Bool = true
    ) -> Int {
        let bytes = [UInt8](repeating: 1, count: size)
        return unsafe bytes.withUnsafeBytes {
            unsafe manners.write(
                descriptor, $0, at: offset, for: .init(qosClass: qosClass, bytes: size, isAlone: alone))
        }
    }

    @Test(
        "S4 higher classes use the page cache as usual",
        arguments: [.userInteractive, .userInitiated, .default] as [QoSClass])
    func highClasses(qosClass: QoSClass) throws {
        let calls = ScriptedFileCalls()
        let (descriptor, manners) = try file(calls)
        #expect(write(manners, descriptor, qosClass) == size)
        #expect(read(manners, descriptor, qosClass) == size)
        #expect(calls.count(of: .uncachedRead) + calls.count(of: .uncachedWrite) + calls.count(of: .writeBack) == 0)
        #expect(calls.advised(.notNeeded).isEmpty)
        _ = calls.close(descriptor)
    }

    @Test("S4 without RWF_DONTCACHE pages that were in memory stay, and others go")
    func fallback() throws {
        let calls = ScriptedFileCalls(
            [.readFromMemory: [.short(8192), .real]], always: [.uncachedRead: .value(-Int(EOPNOTSUPP))])
        let (descriptor, manners) = try file(calls)
        #expect(write(manners, descriptor, .default) == size)
        // Two pages are in memory, as far as the kernel tells.
        #expect(read(manners, descriptor, .background) == size)
        #expect(calls.advised(.notNeeded) == [8192..<Int64(size)])
        #expect(calls.advised(.random).count == 1, "nothing is read ahead, which would look as if it had been there")
        // Now all are, since they are written and not on the disk.
        #expect(read(manners, descriptor, .utility) == size)
        #expect(calls.advised(.notNeeded).count == 1)
        #expect(calls.count(of: .uncachedRead) == 1, "the refusal is remembered")
        _ = calls.close(descriptor)
    }

    @Test("S4 near foreground I/O the kernel reads nothing ahead, and does so again far from it")
    func readAhead() throws {
        // The file system of the test need not have the flag.
        let calls = ScriptedFileCalls(always: [.uncachedRead: .value(size)])
        let (descriptor, manners) = try file(calls)
        manners.readsSequentially(descriptor)
        #expect(calls.advised(.sequential).count == 1)
        for _ in 0..<3 { #expect(read(manners, descriptor, .background, readsAhead: false) == size) }
        #expect(calls.advised(.random).count == 1 && calls.advised(.sequential).count == 1)
        for _ in 0..<3 { #expect(read(manners, descriptor, .background) == size) }
        #expect(calls.advised(.random).count == 1 && calls.advised(.sequential).count == 2)
        #expect(calls.advised(.normal).isEmpty)
        _ = calls.close(descriptor)
    }

    @Test("S4 where residence is not known nothing is dropped")
    func unknownResidence() throws {
        let calls = ScriptedFileCalls(always: [
            .uncachedRead: .value(-Int(EOPNOTSUPP)), .readFromMemory: .value(-Int(EOPNOTSUPP)),
        ])
        let (descriptor, manners) = try file(calls)
        #expect(write(manners, descriptor, .default) == size)
        #expect(read(manners, descriptor, .background) == size)
        #expect(read(manners, descriptor, .background) == size)
        #expect(calls.advised(.notNeeded).isEmpty && calls.count(of: .readFromMemory) == 1)
        _ = calls.close(descriptor)
    }

    @Test("S4 written pages are dropped once on the disk, but not those of the file as it was")
    func writtenPages() throws {
        let calls = ScriptedFileCalls(always: [.uncachedWrite: .value(-Int(EOPNOTSUPP))])
        let (descriptor, manners) = try file(calls, formerSize: 4096)
        #expect(write(manners, descriptor, .background) == size)
        #expect(calls.advised(.notNeeded) == [4096..<Int64(size)])
        _ = calls.close(descriptor)
    }

    @Test("S4 a restrained piece is on the disk at its end; others wait for a few megabytes together")
    func pacing() throws {
        let calls = ScriptedFileCalls()
        let (descriptor, manners) = try file(calls)
        for number in 0..<16 as Range<Int64> {
            #expect(write(manners, descriptor, .background, at: number * Int64(size), alone: false) == size)
        }
        #expect(calls.count(of: .writeBack) == 16)
        manners.synchronized(descriptor)
        _ = calls.close(descriptor)
        var behind = WriteBehind()
        #expect(behind.wrote(0..<100, waitsForAll: false) == nil)
        #expect(behind.wrote(100..<200, waitsForAll: true) == 0..<200)
        #expect(behind.wrote(200..<300, waitsForAll: false) == nil)
        #expect(behind.wrote(300..<WriteBehind.most + 300, waitsForAll: false) == 200..<WriteBehind.most + 300)
        #expect(behind.synchronized() == nil)
    }

    @Test("S4 a write that is lost during write-back is an error at once", arguments: [EIO, ENOSPC, EDQUOT])
    func lostWrite(code: Int32) throws {
        let calls = ScriptedFileCalls([.writeBack: [.value(-Int(EINTR)), .value(-Int(code))]])
        let (descriptor, manners) = try file(calls)
        #expect(write(manners, descriptor, .background) == -Int(code))
        _ = calls.close(descriptor)
    }

    @Test("S4 a file system without ranges of write-back writes as usual")
    func noWriteBack() throws {
        let calls = ScriptedFileCalls(always: [.writeBack: .value(-Int(ESPIPE))])
        let (descriptor, manners) = try file(calls)
        #expect(write(manners, descriptor, .background) == size)
        #expect(write(manners, descriptor, .background) == size)
        #expect(calls.count(of: .writeBack) == 1)
        _ = calls.close(descriptor)
    }
}
