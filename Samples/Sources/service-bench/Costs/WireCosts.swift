import Foundation

/// The bytes that go between two machines for a file that changed in places: our agent beside rsync's deltas.
struct WireCosts {
    private static let ours = "qos-sync agent"
    private static let rsync = "rsync --no-whole-file"

    let place: CostPlace
    let hasRsync: Bool
    private let agent: Service
    private let relay: ByteRelay

    /// Starts the agent of an empty folder.
    init(_ place: CostPlace, hasRsync: Bool) throws {
        self.place = place
        self.hasRsync = hasRsync
        try place.clear("agent", ["copy", "archive"])
        let home = place.home("agent")
        agent = try Service(
            [try place.program("qos-sync"), "agent", home + "/copy", "--token-file", home + "/token"])
        relay = try ByteRelay(to: agent.port)
    }

    /// Returns the programs that copy a tree. Both copies are kept over the turns: the first run of a later turn has no
    /// change.
    func programs(_ tree: Tree) throws -> [CostProgram] {
        let home = place.home("agent")
        var programs = [
            CostProgram(
                name: Self.ours,
                command: [
                    try place.program("qos-sync"), "--mirror", "--archive", home + "/archive", "--token-file",
                    home + "/token", tree.folder, "http://127.0.0.1:\(relay.port)",
                ],
                prepare: {},
                kept: { _ in relay.take() })
        ]
        guard hasRsync else { return programs }
        let copy = place.home("wire")
        if !FileManager.default.fileExists(atPath: copy) { try place.clear("wire", ["copy"]) }
        programs.append(
            CostProgram(
                name: Self.rsync,
                command: ["/usr/bin/rsync", "-a", "--no-whole-file", "--stats", tree.folder + "/", copy + "/copy/"],
                prepare: {},
                kept: Self.total))
        return programs
    }

    /// Prints what the figures say about the targets.
    func judge(_ table: CostTable) {
        table.judge(
            "bytes on the wire", .changed, { $0.stored.map(Double.init) }, limit: 1.5, ours: Self.ours,
            others: [Self.rsync])
    }

    /// Reads the bytes of both directions from rsync's statistics.
    private static func total(_ output: String) throws -> Int? {
        try String(contentsOfFile: output, encoding: .utf8).matches(of: /Total bytes (?:sent|received): ([\d,]+)/)
            .compactMap { Int($0.1.replacing(",", with: "")) }.reduce(0, +)
    }
}
