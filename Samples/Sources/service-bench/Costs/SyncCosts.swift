/// Our sync beside rsync and unison, of two folders of one machine.
struct SyncCosts {
    static let peers = [Peer(program: "rsync", package: "rsync"), Peer(program: "unison", package: "unison")]
    private static let ours = "qos-sync"

    let place: CostPlace
    let installed: Set<String>

    /// Returns the programs that copy a tree.
    func programs(_ tree: Tree) throws -> [CostProgram] {
        var programs = [try ours(tree)]
        if installed.contains("rsync") {
            programs += [rsync(tree, "rsync", []), rsync(tree, "rsync --fsync", ["--fsync"])]
        }
        if installed.contains("unison") { programs.append(unison(tree)) }
        return programs
    }

    /// Prints what the figures say about the targets.
    func judge(_ table: CostTable) {
        let ours = Self.ours
        table.judge("time of the first copy", .first, \.wall, limit: 1.5, ours: ours, others: ["rsync"])
        table.judge("time without a change", .unchanged, \.wall, limit: 2, ours: ours, others: ["rsync"])
    }

    private func ours(_ tree: Tree) throws -> CostProgram {
        let home = place.home(Self.ours)
        return CostProgram(
            name: Self.ours,
            command: [
                try place.program(Self.ours), "--mirror", "--archive", home + "/archive", tree.folder, home + "/copy",
            ],
            prepare: { try place.clear(Self.ours, ["archive", "copy"]) })
    }

    private func rsync(_ tree: Tree, _ name: String, _ options: [String]) -> CostProgram {
        let home = name.replacing(" ", with: "")
        return CostProgram(
            name: name,
            command: ["/usr/bin/rsync", "-a", "--delete"] + options + [tree.folder + "/", place.home(home) + "/copy/"],
            prepare: { try place.clear(home, ["copy"]) })
    }

    private func unison(_ tree: Tree) -> CostProgram {
        let home = place.home("unison")
        return CostProgram(
            name: "unison",
            command: ["/usr/bin/unison", tree.folder, home + "/copy", "-ui", "text", "-batch", "-silent", "-times"],
            environment: ["UNISON": home + "/archive"],
            prepare: { try place.clear("unison", ["archive", "copy"]) })
    }
}
