internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import QoSCore
internal import SafeFiles
internal import TreeScan

/// The files of the service's folder: listings and downloads.
struct FileRoutes: Sendable {
    /// The path of the route.
    static let path = "/files"

    /// The largest number of entries in a listing.
    private static let listLimit = 10_000
    /// The bytes that are read at a time.
    private static let piece = 256 * 1024

    /// The path of the folder. It is opened anew for each request: another folder may have taken its place.
    let folder: String
    let synced: SyncedFiles
    let connections: Connections
    /// The longest time for which a request waits for the sync.
    let patience: Duration

    /// Makes the routes.
    init(_ settings: ServiceSettings, synced: SyncedFiles, connections: Connections) {
        folder = settings.folder
        self.synced = synced
        self.connections = connections
        patience = settings.requestTime * 2 / 3
    }

    /// Adds the route.
    func add(to router: Router<ServiceContext>) {
        router.get("/files") { request, context in
            guard context.mayAct else { throw Refusal.noToken }
            let path = try PathText.path("path", of: request) ?? .root
            return try await connections.whileOpen(context.channel) { try await answer(request, path) }
        }
    }

    private func answer(_ request: Request, _ path: RelativePath) async throws -> Response {
        switch try await synced.fetch(path, of: folder, waitingUpTo: patience) {
        case .look: break
        case .isComing:
            throw Refusal(
                status: .serviceUnavailable,
                message: "The file is on the other side of the sync, which now copies it first. Try again.",
                fields: [.retryAfter: "1"], isLimit: true)
        case .isUnknown(let reason):
            throw Refusal(
                status: .serviceUnavailable,
                message: "The file is not here, and the other side of the sync cannot be asked for it. \(reason)",
                fields: [.retryAfter: "10"])
        }
        do {
            return try await runTask(at: .userInitiated) {
                let root = try RootFolder(folder)
                let entry = OpenDescriptor(owning: try root.descriptor(of: path, for: .status))
                switch EntryStatus(descriptor: entry.number)?.kind {
                case .directory:
                    let listing = try FolderListing(of: path, in: root, limit: Self.listLimit)
                    return try JSONResponse.make(FolderResponse(listing, of: path))
                case .regular:
                    let file = OpenDescriptor(owning: try root.descriptor(of: path, for: .reading))
                    synced.noteServed(path, of: folder)
                    return try Self.answer(request, path, file)
                default: throw Refusal.noFile
                }
            }
        } catch let failure as FileSystemFailure {
            throw Refusal(failure)
        } catch is TreeScanError {
            throw Refusal(
                status: .serviceUnavailable,
                message: "The folder of the service is not there now. Bring it back: the service goes on by itself.",
                fields: [.retryAfter: "10"])
        }
    }

    private static func answer(_ request: Request, _ path: RelativePath, _ file: OpenDescriptor) throws -> Response {
        // Another entry may have the name by now.
        guard let status = EntryStatus(descriptor: file.number), status.kind == .regular else { throw Refusal.noFile }
        let stamp = status.stamp
        let tag = "\"\(String(stamp.inode, radix: 16))-\(stamp.size)-\(String(stamp.changed, radix: 16))\""
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .acceptRanges: "bytes", .eTag: tag,
            // Nothing of the folder may run as a page of this service.
            .contentDisposition:
                "attachment; filename*=UTF-8''\(PathText.encoded(RelativePath(bytes: Array(path.name))))",
        ]
        let isSame = request.headers[.ifRange].map { $0 == tag } ?? true
        switch ByteRange(isSame ? request.headers[.range] : nil, size: stamp.size) {
        case .all:
            return Response(status: .ok, headers: headers, body: body(file, 0..<stamp.size))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(stamp.size)"
            return Response(status: .partialContent, headers: headers, body: body(file, range))
        case .none:
            throw Refusal(
                status: .rangeNotSatisfiable, message: "The file has \(stamp.size) bytes. Ask for some of them.",
                fields: [.contentRange: "bytes */\(stamp.size)"])
        }
    }

    private static func body(_ file: OpenDescriptor, _ range: Range<Int64>) -> ResponseBody {
        ResponseBody(contentLength: Int(range.count)) { writer in
            var offset = Int(range.lowerBound)
            while offset < Int(range.upperBound) {
                let (start, count) = (offset, min(piece, Int(range.upperBound) - offset))
                let (bytes, code) = try await runTask(at: .userInitiated) {
                    FileBytes.read(file.number, from: start, count: count)
                }
                // A file that became shorter ends the connection, so that the client sees it.
                guard code == 0, !bytes.isEmpty else { throw CancellationError() }
                try await writer.write(ByteBuffer(bytes: bytes))
                offset += bytes.count
            }
            try await writer.finish(nil)
        }
    }
}

extension Refusal {
    fileprivate static let noFile = Refusal(
        status: .forbidden, message: "This is neither a file nor a folder. Links are not followed.")

    /// The answer about an entry that cannot be had.
    init(_ failure: FileSystemFailure) {
        if failure.isVanished || failure.code == ENAMETOOLONG {
            self.init(status: .notFound, message: "There is no such file or folder. Ask for the folder above it.")
        } else if failure.isDenied {
            self.init(status: .forbidden, message: "The service's user may not read it. Change its rights.")
        } else {
            self.init(status: .serviceUnavailable, message: "It cannot be read now: \(failure). Try again later.")
        }
    }
}
