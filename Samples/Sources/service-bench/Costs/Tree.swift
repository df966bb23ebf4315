import Foundation

/// A tree of files that the programs save, copy and index.
struct Tree {
    let name: String
    let folder: String
    /// The paths of its files below the folder, sorted.
    let files: [String]
    /// The bytes of its files.
    let bytes: Int

    /// Copies a folder, and describes the copy.
    init(copyOf source: String, name: String, in place: String) throws {
        folder = "\(place)/\(name)"
        self.name = name
        try BenchPlace.run(["/bin/cp", "-r", "--preserve=timestamps,links", source, folder])
        (files, bytes) = try Self.list(folder)
    }

    /// Writes many files of some words, the same for the same numbers.
    init(tiny count: Int, in place: String) throws {
        name = "tiny"
        folder = "\(place)/tiny"
        _ = try Corpus(folder: folder, files: count, wordsPerFile: 20)
        (files, bytes) = try Self.list(folder)
    }

    /// Writes one file of noise, which nothing can compress.
    init(binary size: Int, in place: String) throws {
        name = "binary"
        folder = "\(place)/binary"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/image.bin"
        let file = try Self.make(path)
        defer { try? file.close() }
        var random = Generator(state: 2)
        for _ in 0..<(size >> 16) { try file.write(contentsOf: Self.noise(1 << 16, &random)) }
        (files, bytes) = try Self.list(folder)
    }

    /// Changes every hundredth file: other bytes in the middle, and some more at the end. In a tree of one file, twenty
    /// places of it change, and some bytes come in between.
    func change(turn: Int) throws {
        var random = Generator(state: UInt64(turn + 10))
        if files.count == 1 { return try splice(folder + "/" + files[0], &random) }
        for path in files[...].striding(by: 100, from: turn % 100) {
            let file = URL(filePath: "\(folder)/\(path)")
            var data = try Data(contentsOf: file)
            let word = "changed\(random.next() % 100_000)"
            data.replaceSubrange(data.count / 2..<min(data.count, data.count / 2 + 16), with: Data(word.utf8))
            data.append(contentsOf: Data("\n\(word)\n".utf8))
            try data.write(to: file)
        }
    }

    /// Changes parts of one file, and shifts all that is behind them.
    private func splice(_ path: String, _ random: inout Generator) throws {
        let old = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? old.close() }
        let new = path + ".new"
        let file = try Self.make(new)
        defer { try? file.close() }
        // In pieces: the memory of this program is the least that it can measure of others.
        for index in 0..<20 {
            let rest = try old.read(upToCount: index == 19 ? bytes : bytes / 20) ?? Data()
            let cut = Int(random.next() % UInt64(max(1, bytes / 40)))
            try file.write(contentsOf: rest.prefix(cut))
            try file.write(contentsOf: Self.noise(index % 2 == 0 ? 4096 : 5000, &random))
            try file.write(contentsOf: rest.dropFirst(cut + 4096))
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: new, toPath: path)
    }

    /// Returns the bytes of the files below a folder.
    static func bytes(of folder: String) throws -> Int { try list(folder).bytes }

    private static func list(_ folder: String) throws -> (files: [String], bytes: Int) {
        var (files, bytes): ([String], Int) = ([], 0)
        let names = FileManager.default.enumerator(atPath: folder)
        while let path = names?.nextObject() as? String {
            guard let attributes = names?.fileAttributes, attributes[.type] as? FileAttributeType == .typeRegular
            else { continue }
            files.append(path)
            bytes += attributes[.size] as? Int ?? 0
        }
        return (files.sorted(), bytes)
    }

    /// Makes an empty file, and opens it.
    private static func make(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw BenchPlace.Failure(description: "\(path) cannot be written")
        }
        return try FileHandle(forWritingTo: URL(filePath: path))
    }

    private static func noise(_ count: Int, _ random: inout Generator) -> Data {
        var data = Data(capacity: count)
        while data.count < count {
            unsafe withUnsafeBytes(of: random.next()) { unsafe data.append(contentsOf: $0.prefix(count - data.count)) }
        }
        return data
    }
}

extension ArraySlice {
    /// Returns every `step`th element.
    fileprivate func striding(by step: Int, from start: Int) -> [Element] {
        stride(from: startIndex + start, to: endIndex, by: step).map { self[$0] }
    }
}
