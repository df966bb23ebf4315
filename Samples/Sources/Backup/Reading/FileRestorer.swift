internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import TreeScan

/// Restores single files. Threads share it.
struct FileRestorer: Sendable {
    /// The end of one file.
    enum Outcome: Sendable {
        case restored(missing: [String])
        case present(missing: [String])
        case failed(String)
    }

    let source: BlobSource
    let keys: RepositoryKeys
    let replaces: Bool

    /// Writes a regular file under a temporary name, and renames it when all of it has been verified and written.
    ///
    /// - Throws: `CancellationError` and `BackupError.noSpace`. Other failures are values.
    func restore(_ node: TreeNode, _ content: TreeNode.FileContent, in folder: TargetFolder) async throws -> Outcome {
        let display = folder.path.appending(node.name).display
        do {
            if let kind = folder.kind(of: node.name) {
                if kind == S_IFREG {
                    let file = folder.open(node.name)
                    defer { if file >= 0 { close(file) } }
                    if file >= 0, try await matches(file, content) {
                        // A run that was killed may have left it.
                        folder.discard(node.name)
                        return .present(missing: TargetFolder.setMetadata(of: file, node))
                    }
                }
                guard replaces, kind != S_IFDIR else {
                    return .failed("\(display): another entry is there; it stays. Move it away, or allow replacing")
                }
            }
            let file = try folder.makeTemporary(for: node.name)
            defer { close(file) }
            do {
                try await write(content, to: file, in: folder, display)
                let missing = TargetFolder.setMetadata(of: file, node)
                try folder.publish(node.name, replacing: replaces)
                return .restored(missing: missing)
            } catch {
                folder.discard(node.name)
                throw error
            }
        } catch let failure as BlobFailure {
            return .failed("\(display): \(failure)")
        } catch let failure as FileSystemFailure {
            try failure.endIfFull()
            return .failed("\(failure)")
        } catch BackupError.failed(_, let operation, let code) {
            return .failed("\(operation) \(display): \(SystemError.text(code))")
        }
    }

    private func write(
        _ content: TreeNode.FileContent, to file: Int32, in folder: TargetFolder, _ path: String
    ) async throws {
        let code = folder.setLength(of: file, to: content.size)
        guard code == 0 else { throw BackupError.system("write", path, code: code) }
        var places = DataPlaces(content)
        for chunk in content.chunks {
            try Task.checkCancellation()
            let bytes = try await source.bytes(of: chunk)
            for (offset, range) in places.take(bytes.count) {
                try await IOThrottle.process.perform(bytes: range.count) { _ in
                    let code = folder.write(bytes[range], to: file, at: offset)
                    guard code == 0 else { throw BackupError.system("write", path, code: code) }
                }
            }
        }
    }

    /// Whether a file has exactly this content: its chunks have the same names, and its holes are zeros.
    func matches(_ file: Int32, _ content: TreeNode.FileContent) async throws -> Bool {
        var status = stat()
        guard unsafe fstat(file, &status) == 0, Int64(status.st_size) == content.size else { return false }
        var places = DataPlaces(content)
        for chunk in content.chunks {
            var bytes: [UInt8] = []
            for (offset, range) in places.take(chunk.length) {
                bytes += try await IOThrottle.process.perform(bytes: range.count) { _ in
                    FileBytes.read(file, from: Int(offset), count: range.count).bytes
                }
            }
            guard keys.name(of: bytes) == chunk.blob else { return false }
        }
        for hole in content.holes {
            var position = hole.lowerBound
            while position < hole.upperBound {
                let seekData: Int32 = 3
                let data = Int64(lseek(file, off_t(position), seekData))
                if data < 0 && errno == ENXIO || data >= hole.upperBound { break }
                position = max(position, data)
                let bytes = FileBytes.read(
                    file, from: Int(position), count: Int(min(1 << 20, hole.upperBound - position))
                ).bytes
                guard !bytes.isEmpty, bytes.allSatisfy({ $0 == 0 }) else { return false }
                position += Int64(bytes.count)
            }
        }
        return true
    }
}

extension FileSystemFailure {
    /// A full disk ends a restore: without room no other entry could be written either.
    func endIfFull() throws {
        if code == ENOSPC || code == EDQUOT { throw BackupError.noSpace(path: path.display) }
    }
}
