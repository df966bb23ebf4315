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

    private func file(_ calls: any FileCalls, formerSize: Int64 = 0) throws -> (Int32, PageCachePolicy) {
        let descriptor = calls.open(folder["data"], flags: O_RDWR | O_CREAT, permissions: 0o600)
        try #require(descriptor >= 0)
        return (descriptor, PageCachePolicy(calls: calls, formerSize: formerSize))
    }

    private func read(
        _ manners: PageCachePolicy, _ descriptor: Int32, _ qosClass: QoSClass, readsAhead: Bool = true
    ) -> Int {
        var bytes = [UInt8](repeating: 0, count: size)
        return unsafe bytes.withUnsafeMutableBytes {
            unsafe manners.read(
                descriptor, into: $0, at: 0,
                for: .init(qosClass: qosClass, bytes: size, isAlone: false, readsAhead: readsAhead))
        }
    }

    private func write(
        _ manners: PageCachePolicy, _ descriptor: Int32, _ qosClass: QoSClass, at offset: Int64 = 0,
        alone: Bool = true, near: Bool = false
    ) -> Int {
        let bytes = [UInt8](repeating: 1, count: size)
        return unsafe bytes.withUnsafeBytes {
            unsafe manners.write(
                descriptor, $0, at: offset,
                for: .init(qosClass: qosClass, bytes: size, isAlone: alone, readsAhead: !near)
            ).count
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

    @Test("S4 when read-ahead ends, the pages ahead go, whose marks would let it go on; only then, and once")
    func endOfReadAhead() throws {
        let calls = ScriptedFileCalls(always: [.uncachedRead: .value(size)])
        let (descriptor, manners) = try file(calls)
        for _ in 0..<2 { #expect(read(manners, descriptor, .background, readsAhead: false) == size) }
        #expect(calls.advised(.notNeeded).isEmpty, "nothing was read ahead for this file")
        #expect(read(manners, descriptor, .default) == 0, "the file is empty")
        #expect(read(manners, descriptor, .background, readsAhead: false) == size)
        #expect(calls.advised(.notNeeded).isEmpty, "what was read ahead for a higher class stays")
        #expect(read(manners, descriptor, .background) == size)
        for _ in 0..<2 { #expect(read(manners, descriptor, .background, readsAhead: false) == size) }
        #expect(calls.advised(.notNeeded) == [0..<Int64(32 << 20)])
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
        #expect(manners.synchronized(descriptor) == 0)
        _ = calls.close(descriptor)
        var behind = WriteBehind()
        #expect(behind.wrote(0..<100, isAlone: false, isNear: false) == .start)
        #expect(behind.wrote(100..<200, isAlone: true, isNear: false) == .wait(for: 0..<200))
        #expect(behind.wrote(200..<300, isAlone: false, isNear: false) == .start)
        let most = 300..<WriteBehind.most + 300
        #expect(behind.wrote(most, isAlone: false, isNear: false) == .wait(for: 200..<most.upperBound))
        #expect(behind.synchronized() == nil)
    }

    @Test("S4 near the foreground a file that will be synchronized is flushed each half of a megabyte")
    func flushes() throws {
        let calls = ScriptedFileCalls()
        let (descriptor, manners) = try file(calls)
        func write(_ pieces: Range<Int64>, alone: Bool) {
            for number in pieces {
                #expect(self.write(manners, descriptor, .background, at: number * Int64(size), alone: alone) == size)
            }
        }
        write(0..<12, alone: true)
        #expect(calls.count(of: .synchronize) == 0, "nobody has asked for it")
        manners.willSynchronize()
        write(0..<12, alone: false)
        #expect(calls.count(of: .synchronize) == 0, "without a foreground nobody waits behind a flush")
        write(0..<1, alone: true)
        #expect(calls.count(of: .synchronize) == 1, "all that was not flushed counts")
        write(1..<7, alone: true)
        #expect(calls.count(of: .synchronize) == 4)
        for number in 0..<32 as Range<Int64> {
            let count = self.write(
                manners, descriptor, .background, at: number * Int64(size), alone: false, near: true)
            #expect(count == size)
        }
        #expect(calls.count(of: .synchronize) == 6, "each four megabytes some seconds after foreground I/O")
        _ = calls.close(descriptor)
        var behind = WriteBehind()
        _ = behind.synchronized()
        #expect(behind.wrote(0..<300_000, isAlone: true, isNear: false) == .wait(for: 0..<300_000))
        _ = behind.synchronized()
        #expect(behind.wrote(300_000..<600_000, isAlone: true, isNear: false) == .wait(for: 300_000..<600_000))
        #expect(behind.wrote(600_000..<900_000, isAlone: true, isNear: false) == .flush(600_000..<900_000))
    }

    @Test("S4 a flush that fails is an error of the write; one that the file system does not have is left out")
    func failingFlush() throws {
        let calls = ScriptedFileCalls([.synchronize: [.value(-Int(EINTR)), .value(-Int(ENOSPC)), .value(-Int(EINVAL))]])
        let (descriptor, manners) = try file(calls)
        manners.willSynchronize()
        let results = (0..<4 as Range<Int64>).map { write(manners, descriptor, .background, at: $0 * Int64(size)) }
        #expect(results == [size, -Int(ENOSPC), size, size])
        for number in 4..<16 as Range<Int64> {
            #expect(write(manners, descriptor, .background, at: number * Int64(size)) == size)
        }
        #expect(calls.count(of: .synchronize) == 3)
        _ = calls.close(descriptor)
    }

    static let losses = [EIO, ENOSPC, EDQUOT, ETIMEDOUT, ENODATA, EROFS, ESTALE]

    @Test("S4 a write that is lost during write-back is an error at once, and once more of fsync", arguments: losses)
    func lostWrite(code: Int32) throws {
        let calls = ScriptedFileCalls([.writeBack: [.value(-Int(EINTR)), .value(-Int(code))]])
        let (descriptor, manners) = try file(calls)
        #expect(write(manners, descriptor, .background) == -Int(code))
        #expect(manners.synchronized(descriptor) == -code, "the kernel has told it already")
        #expect(manners.synchronized(descriptor) == 0)
        _ = calls.close(descriptor)
    }

    @Test("S4 a flush that fails is an error, whatever the number", arguments: losses)
    func lostFlush(code: Int32) throws {
        let calls = ScriptedFileCalls([.synchronize: [.value(-Int(code))]])
        let (descriptor, manners) = try file(calls)
        manners.willSynchronize()
        // The second piece has half of a megabyte to flush.
        #expect(write(manners, descriptor, .background) == size)
        #expect(write(manners, descriptor, .background, at: Int64(size)) == -Int(code))
        #expect(manners.synchronized(descriptor) == -code)
        _ = calls.close(descriptor)
    }

    @Test(
        "S4 a file system without ranges of write-back writes as usual",
        arguments: [ESPIPE, EINVAL, ENOSYS, EOPNOTSUPP])
    func noWriteBack(code: Int32) throws {
        let calls = ScriptedFileCalls(always: [.writeBack: .value(-Int(code))])
        let (descriptor, manners) = try file(calls)
        #expect(write(manners, descriptor, .background) == size)
        #expect(write(manners, descriptor, .background) == size)
        #expect(calls.count(of: .writeBack) == 1)
        #expect(manners.synchronized(descriptor) == 0)
        _ = calls.close(descriptor)
    }
}
