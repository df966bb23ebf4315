import Glibc
import QoSFileTestSupport
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSFiles

@Suite("Writing, replacing and copying files", .timeLimit(.minutes(5)))
struct WritingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("qos-files") }

    private var names: [String] { FolderReader.read(folder.path).entries.map(\.name) }

    private func permissions(_ name: String) -> UInt32 {
        LinuxFileCalls().status(of: folder[name]).status.permissions
    }

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    @Test("S4 what is written is read back, by every class", arguments: QoSClass.allCases)
    func roundTrip(qosClass: QoSClass) async throws {
        let (path, bytes) = (folder["data"], Self.bytes(2_500_000))
        try await withScheduler { scheduler in
            let found = try await scheduler.run(at: qosClass) {
                let file = try await QoSFile.open(path, .updating(.always), throttle: IOThrottle())
                try await file.write(bytes, at: 0)
                try await file.write([1, 2, 3], at: 2_500_100)
                try await file.write([], at: 5_000_000)
                try await file.synchronize()
                try await file.synchronize(dataOnly: true)
                let found = try await file.read(3_000_000)
                try await file.truncate(to: 10)
                #expect(try await file.size() == 10)
                try await file.close()
                return found
            }
            #expect(found == bytes + [UInt8](repeating: 0, count: 100) + [1, 2, 3])
        }
    }

    @Test("S4 creation and truncation do what they say")
    func access() async throws {
        try folder.write("old", "12345")
        let throttle = IOThrottle()
        for (path, access, code) in [
            (folder["old"], .writing(.always), .alreadyExists), (folder["new"], .writing(.never), .notFound),
            (folder["new"], .updating(), .notFound),
        ] as [(String, FileAccess, FileError.Code)] {
            let error = await #expect(throws: FileError.self) {
                try await QoSFile.open(path, access, throttle: throttle)
            }
            #expect(error?.code == code)
        }
        try await QoSFile.withFile(folder["old"], .writing(), throttle: throttle) { try await $0.write([65], at: 1) }
        #expect(try folder.read("old") == "1A345")
        try await QoSFile.withFile(folder["old"], .writing(truncates: true), throttle: throttle) { _ in }
        #expect(try folder.read("old") == "")
        let reader = try await QoSFile.open(folder["old"], throttle: throttle)
        await #expect(throws: FileError.self) { try await reader.write([1], at: 0) }
        try await reader.close()
    }

    @Test(
        "S4 a full disk is an error that says how much is written",
        arguments: [(ENOSPC, .noSpace), (EDQUOT, .quotaExceeded), (EFBIG, .tooLarge), (EIO, .deviceFailure)]
            as [(Int32, FileError.Code)])
    func full(number: Int32, code: FileError.Code) async throws {
        let calls = ScriptedFileCalls([.write: [.short(1000), .value(-Int(EINTR)), .value(-Int(number))]])
        let file = try await QoSFile.open(folder["data"], .writing(), throttle: IOThrottle(), calls: calls)
        let error = await #expect(throws: FileError.self) { try await file.write(Self.bytes(5000), at: 0) }
        #expect(error?.code == code && error?.bytesWritten == 1000 && error?.number == number)
        #expect("\(try #require(error))".contains("after 1000 bytes"))
        try await file.close()
    }

    @Test("S4 bytes that are lost on their way to the disk do not count as written, and fsync does not forget them")
    func lostBytes() async throws {
        // The eighth piece waits for those since the fourth.
        let calls = ScriptedFileCalls([
            .writeBack: [ScriptedFileCalls.Result](repeating: .value(0), count: 7) + [.value(-Int(EIO))]
        ])
        let path = folder["data"]
        try await withScheduler { scheduler in
            let file = try await QoSFile.open(path, .writing(), throttle: IOThrottle(), calls: calls)
            let error = await #expect(throws: FileError.self) {
                try await scheduler.run(at: .background) {
                    try await file.write([UInt8](repeating: 7, count: 10 << 20), at: 100)
                }
            }
            #expect(error?.code == .deviceFailure && error?.bytesWritten == 4 << 20)
            let later = await #expect(throws: FileError.self) { try await file.synchronize() }
            #expect(later?.code == .deviceFailure && later?.call == "fsync")
            try await file.synchronize()
            try await file.close()
        }
    }

    @Test("S4 a write that ends because the file is closed or not ready says how much is written")
    func writtenBefore() async throws {
        let calls = ScriptedFileCalls(
            [.write: [.short(1000)] + [ScriptedFileCalls.Result](repeating: .value(-Int(EAGAIN)), count: 100)])
        let file = try await QoSFile.open(folder["data"], .writing(), throttle: IOThrottle(), calls: calls)
        let error = await #expect(throws: FileError.self) { try await file.write(Self.bytes(5000), at: 0) }
        #expect(error?.code == .unavailable && error?.bytesWritten == 1000)
        try await file.close()
        let closed = await #expect(throws: FileError.self) { try await file.write(Self.bytes(5000), at: 0) }
        #expect(closed?.code == .closed && closed?.bytesWritten == 0)
    }

    @Test("S4 an error at the end of a file reaches the caller, and the descriptor is gone")
    func errorAtClose() async throws {
        let calls = ScriptedFileCalls([.close: [.value(-Int(EIO))]])
        let file = try await QoSFile.open(folder["data"], .writing(), throttle: IOThrottle(), calls: calls)
        let error = await #expect(throws: FileError.self) { try await file.close() }
        #expect(error?.code == .deviceFailure && error?.call == "close")
        #expect(calls.openDescriptors == 0)
        try await file.close()
    }

    @Test("S4 a signal during close is no error, for Linux has closed the descriptor")
    func signalAtClose() async throws {
        let calls = ScriptedFileCalls([.close: [.value(-Int(EINTR))]])
        let file = try await QoSFile.open(folder["data"], .writing(), throttle: IOThrottle(), calls: calls)
        try await file.close()
        #expect(calls.count(of: .close) == 1)
    }

    @Test("S4 a replacement appears as a whole, with the permissions of the old file")
    func replacement() async throws {
        try folder.write("state", "old")
        unsafe chmod(folder["state"], 0o640)
        let path = folder["state"]
        let present = try await QoSFile.replace(path, throttle: IOThrottle()) { file in
            try await file.write(Array("new text".utf8), at: 0)
            return try folder.read("state")
        }
        #expect(present == "old", "until the end the old file is there")
        #expect(try folder.read("state") == "new text")
        #expect(permissions("state") == 0o640)
        #expect(names == ["state"])
        try await QoSFile.replace(folder["other"], throttle: IOThrottle()) { _ in }
        #expect(names == ["other", "state"])
    }

    @Test(
        "S4 a replacement that fails anywhere leaves the old file and nothing else",
        arguments: [.open, .status, .write, .setPermissions, .synchronize, .close, .rename]
            as [ScriptedFileCalls.Call])
    func failedReplacement(call: ScriptedFileCalls.Call) async throws {
        try folder.write("state", "old")
        let calls = ScriptedFileCalls([call: [.value(-Int(ENOSPC))]])
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.install(folder["state"], replacing: true, throttle: IOThrottle(), calls: calls) { file in
                try await file.write(Self.bytes(100), at: 0)
            }
        }
        #expect(error?.code == .noSpace)
        #expect(try folder.read("state") == "old")
        #expect(names == ["state"] && calls.openDescriptors == 0)
    }

    @Test("S4 a signal while an old file is emptied is no error")
    func signalAtTruncation() async throws {
        try folder.write("data", "old")
        let calls = ScriptedFileCalls([.truncate: [.value(-Int(EINTR))]])
        let file = try await QoSFile.open(
            folder["data"], .writing(truncates: true), throttle: IOThrottle(), calls: calls)
        try await file.close()
        #expect(try folder.read("data") == "")
    }

    @Test("S4 the permissions of the old file stay, whatever the umask, and the others get theirs at the end")
    func keptPermissions() async throws {
        try folder.write("state", "old")
        for kept in [0o666, 0o664, 0o600] as [UInt32] {
            unsafe chmod(folder["state"], mode_t(kept))
            let early = try await QoSFile.replace(folder["state"], throttle: IOThrottle()) { file in
                LinuxFileCalls().status(of: file.path).status.permissions
            }
            #expect(early == 0o600 && permissions("state") == kept)
            try await QoSFile.copy(folder["state"], to: folder["copy"], throttle: IOThrottle())
            #expect(permissions("copy") == kept, "a copy that replaces nothing has those of its source")
            unsafe unlink(folder["copy"])
        }
        try folder.write("other", "other")
        unsafe chmod(folder["other"], 0o644)
        try await QoSFile.copy(folder["state"], to: folder["other"], replacing: true, throttle: IOThrottle())
        #expect(permissions("other") == 0o644)
        // A file system without permissions.
        let calls = ScriptedFileCalls([.setPermissions: [.value(-Int(EPERM))]])
        try await QoSFile.install(folder["other"], replacing: true, throttle: IOThrottle(), calls: calls) { _ in }
        #expect(permissions("other") == 0o600)
    }

    @Test("S4 a directory that cannot be opened is told before the old file is gone", arguments: [0, 1])
    func folderFirst(opened: Int) async throws {
        try folder.write("state", "old")
        let before: [ScriptedFileCalls.Result] = Array(repeating: .real, count: opened)
        let calls = ScriptedFileCalls([.open: before + [.value(-Int(EMFILE))]])
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.install(folder["state"], replacing: true, throttle: IOThrottle(), calls: calls) { _ in }
        }
        #expect(error?.code == .tooManyOpenFiles)
        #expect(try folder.read("state") == "old")
        #expect(names == ["state"] && calls.openDescriptors == 0)
    }

    @Test("S4 signals do not keep a directory from the disk")
    func signalsAtFolder() async throws {
        let calls = ScriptedFileCalls([
            .open: [.value(-Int(EINTR)), .real, .value(-Int(EINTR))], .synchronize: [.real, .value(-Int(EINTR))],
        ])
        try await QoSFile.install(folder["state"], replacing: true, throttle: IOThrottle(), calls: calls) { file in
            try await file.write([65], at: 0)
        }
        #expect(try folder.read("state") == "A")
        #expect(calls.count(of: .synchronize) == 3 && calls.openDescriptors == 0)
    }

    @Test("S4 where the directory may not be read, its file system is written to the disk")
    func unreadableFolder() async throws {
        let calls = ScriptedFileCalls([
            .open: [.value(-Int(EACCES))], .synchronizeFileSystem: [.value(-Int(EINTR)), .value(0)],
        ])
        try await QoSFile.install(folder["state"], replacing: true, throttle: IOThrottle(), calls: calls) { file in
            try await file.write([65], at: 0)
        }
        #expect(try folder.read("state") == "A")
        #expect(calls.count(of: .synchronizeFileSystem) == 2 && calls.count(of: .synchronize) == 1)
        #expect(names == ["state"] && calls.openDescriptors == 0)
    }

    @Test("S4 near the foreground a replacement is flushed while it is written")
    func flushedReplacement() async throws {
        let (path, calls, throttle) = (folder["state"], ScriptedFileCalls(), IOThrottle())
        try await withScheduler { scheduler in
            try await scheduler.run(at: .background) {
                try await QoSFile.install(path, replacing: true, throttle: throttle, calls: calls) { file in
                    for number in 0..<Int64(12) {
                        // Each time, since the foreground counts as near for some seconds only.
                        _ = try await scheduler.run(at: .userInitiated) { try await throttle.perform(bytes: 1) { $0 } }
                        try await file.write([UInt8](repeating: 7, count: 1 << 20), at: number << 20)
                    }
                }
            }
        }
        #expect(calls.count(of: .synchronize) > 2, "more often than for the file and its folder at the end")
    }

    @Test("S4 a cancelled replacement leaves the old file and nothing else")
    func cancelledReplacement() async throws {
        try folder.write("state", "old")
        let path = folder["state"]
        let task = Task {
            try await QoSFile.replace(path, throttle: IOThrottle()) { file in
                try await file.write([1], at: 0)
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                try await file.write([2], at: 1)
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try folder.read("state") == "old")
        #expect(names == ["state"])
    }

    @Test("S4 a directory is not replaced")
    func replacedDirectory() async throws {
        try folder.write("folder/file")
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.replace(folder["folder"], throttle: IOThrottle()) { _ in }
        }
        #expect(error?.code == .wrongKind)
        #expect(names == ["folder"])
    }

    @Test("S4 a path that a NUL byte would end is refused, and the file that it would mean stays")
    func pathWithNUL() async throws {
        try folder.write("state", "old")
        for path in ["", folder["state\0.tmp"]] {
            let error = await #expect(throws: FileError.self) {
                try await QoSFile.replace(path, throttle: IOThrottle()) { try await $0.write([1], at: 0) }
            }
            #expect(error?.code == .invalidArgument)
            let copied = await #expect(throws: FileError.self) {
                try await QoSFile.copy(folder["state"], to: path, replacing: true, throttle: IOThrottle())
            }
            #expect(copied?.code == .invalidArgument)
        }
        #expect(try folder.read("state") == "old")
        #expect(names == ["state"])
    }

    @Test(
        "S4 the directory of a path ends at the last slash, whatever follows it",
        arguments: [
            ("name", "."), ("/name", "/"), ("/a/b", "/a"), ("a/", "a"), ("/a/\u{301}b", "/a"), ("a/\u{301}b", "a"),
        ] as [(String, String)])
    func folderOfPath(path: String, folder: String) {
        #expect(QoSFile.folder(of: path) == folder)
    }

    @Test("S4 a copy is the same, by every class", arguments: QoSClass.allCases)
    func copies(qosClass: QoSClass) async throws {
        let bytes = Self.bytes(3_100_000)
        let (from, to) = (folder["from"], folder["to"])
        try await QoSFile.withFile(from, .writing(), throttle: IOThrottle()) { try await $0.write(bytes, at: 0) }
        try await withScheduler { scheduler in
            let count = try await scheduler.run(at: qosClass) {
                try await QoSFile.copy(from, to: to, throttle: IOThrottle())
            }
            #expect(count == 3_100_000)
        }
        let found = try await QoSFile.withFile(to, throttle: IOThrottle()) { try await $0.read(4_000_000) }
        #expect(found == bytes)
        let error = await #expect(throws: FileError.self) { try await QoSFile.copy(from, to: to) }
        #expect(error?.code == .alreadyExists)
        try await QoSFile.copy(from, to: to, replacing: true)
        #expect(names == ["from", "to"])
    }

    @Test(
        "S4 where the kernel does not copy, reads and writes do",
        arguments: [EXDEV, EOPNOTSUPP, EINVAL, ENOSYS, EPERM, 0])
    func copyWithoutKernel(number: Int32) async throws {
        try folder.write("from", "some text")
        let calls = ScriptedFileCalls([.copy: [.value(-Int(EINTR)), .value(-Int(number))]])
        let count = try await QoSFile.copy(
            folder["from"], to: folder["to"], throttle: IOThrottle(), calls: calls)
        #expect(count == 9 && calls.openDescriptors == 0)
        #expect(try folder.read("to") == "some text")
    }

    @Test(
        "S4 where no rename keeps an existing file, a link does, and else a look",
        arguments: [EINVAL, ENOSYS], [0, EPERM, EOPNOTSUPP, ENOSYS])
    func copyWithoutExclusiveRename(rename: Int32, link: Int32) async throws {
        try folder.write("from", "some text")
        let links: [ScriptedFileCalls.Result] = [link == 0 ? .real : .value(-Int(link))]
        let calls = ScriptedFileCalls([.rename: [.value(-Int(rename))], .link: links])
        _ = try await QoSFile.copy(folder["from"], to: folder["to"], throttle: IOThrottle(), calls: calls)
        #expect(try folder.read("to") == "some text")
        #expect(names == ["from", "to"] && calls.openDescriptors == 0)
        #expect(calls.count(of: .rename) == (link == 0 ? 1 : 2))
        // Another program makes the target after the first look.
        let late = ScriptedFileCalls([
            .statusOfPath: [.value(-Int(ENOENT))], .rename: [.value(-Int(rename))], .link: links,
        ])
        try folder.write("to", "other text")
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.copy(folder["from"], to: folder["to"], throttle: IOThrottle(), calls: late)
        }
        #expect(error?.code == .alreadyExists)
        #expect(try folder.read("to") == "other text")
        #expect(names == ["from", "to"] && late.openDescriptors == 0)
    }

    @Test("S4 a copy looks at its target under its throttle, as it does all else")
    func lookUnderThrottle() async throws {
        try folder.write("from", "some text")
        let (from, to, calls, throttle) = (folder["from"], folder["to"], ScriptedFileCalls(), IOThrottle())
        throttle.setLimits(bytesPerSecond: 0, operationsPerSecond: nil, for: .default)
        let task = Task { try await QoSFile.copy(from, to: to, throttle: throttle, calls: calls) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(calls.count(of: .statusOfPath) == 0)
    }

    @Test("S4 nothing is left of a copy that fails", arguments: [.copy, .write, .rename] as [ScriptedFileCalls.Call])
    func failedCopy(call: ScriptedFileCalls.Call) async throws {
        try folder.write("from", "some text")
        let calls = ScriptedFileCalls(
            call == .write
                ? [.copy: [.value(-Int(EXDEV))], .write: [.value(-Int(ENOSPC))]] : [call: [.value(-Int(ENOSPC))]])
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.copy(folder["from"], to: folder["to"], throttle: IOThrottle(), calls: calls)
        }
        #expect(error?.code == .noSpace)
        #expect(names == ["from"] && calls.openDescriptors == 0)
    }

    @Test("S4 a file system that is really full", .enabled(if: geteuid() == 0, "a small file system needs root"))
    func reallyFull() async throws {
        let place = folder["full"]
        unsafe mkdir(place, 0o700)
        guard unsafe mount("none", place, "tmpfs", 0, "size=64k") == 0 else { return }
        defer { _ = unsafe umount2(place, Int32(MNT_DETACH)) }
        try await QoSFile.withFile("\(place)/small", .writing(), throttle: IOThrottle()) {
            try await $0.write([1, 2, 3], at: 0)
        }
        let error = await #expect(throws: FileError.self) {
            try await QoSFile.replace("\(place)/small", throttle: IOThrottle()) {
                try await $0.write(Self.bytes(200_000), at: 0)
            }
        }
        #expect(error?.code == .noSpace && (error?.bytesWritten ?? 0) > 0)
        let kept = try await QoSFile.withFile("\(place)/small", throttle: IOThrottle()) { try await $0.read(10) }
        #expect(kept == [1, 2, 3])
        #expect(FolderReader.read(place).entries.map(\.name) == ["small"])
    }
}
