/// Our backup beside restic and borg, all with encryption.
struct BackupCosts {
    static let peers = [Peer(program: "restic", package: "restic"), Peer(program: "borg", package: "borgbackup")]
    private static let ours = "qos-backup"

    let place: CostPlace
    let installed: Set<String>

    /// Returns the programs that save a tree.
    func programs(_ tree: Tree) throws -> [CostProgram] {
        try [ours(tree)] + [restic(tree), borg(tree)].filter { installed.contains($0.name) }
    }

    /// Prints what the figures say about the targets.
    func judge(_ table: CostTable) {
        let others = Self.peers.map(\.program)
        let ours = Self.ours
        table.judge("time of the first run", .first, \.wall, limit: 1, ours: ours, others: others)
        table.judge("time without a change", .unchanged, \.wall, limit: 2, ours: ours, others: others)
        table.judge(
            "stored", .first, { $0.stored.map(Double.init) }, limit: 1.05, ours: ours, others: others)
        table.judge("memory", .first, { Double($0.memory) }, limit: 1, ours: ours, others: others)
    }

    private func ours(_ tree: Tree) throws -> CostProgram {
        let home = place.home(Self.ours)
        let program = try place.program(Self.ours)
        let options = ["-r", home + "/repository", "--password-file", place.passwordFile]
        return CostProgram(
            name: Self.ours, command: [program, "backup"] + options + [tree.folder],
            prepare: {
                try place.clear(Self.ours)
                try BenchPlace.run([program, "init"] + options)
            },
            kept: { _ in try Tree.bytes(of: home + "/repository") })
    }

    private func restic(_ tree: Tree) -> CostProgram {
        let home = place.home("restic")
        let restic = [
            "/usr/bin/restic", "-r", home + "/repository", "--password-file", place.passwordFile, "--cache-dir",
            home + "/cache",
        ]
        return CostProgram(
            name: "restic", command: restic + ["backup", "--quiet", tree.folder],
            prepare: {
                try place.clear("restic")
                // The version of the format with compression.
                try BenchPlace.run(restic + ["init", "--repository-version", "2"])
            },
            kept: { _ in try Tree.bytes(of: home + "/repository") })
    }

    private func borg(_ tree: Tree) -> CostProgram {
        let home = place.home("borg")
        let variables = [
            "BORG_BASE_DIR": home + "/base", "BORG_PASSPHRASE": CostPlace.passphrase,
            "BORG_RELOCATED_REPO_ACCESS_IS_OK": "yes",
        ]
        return CostProgram(
            name: "borg",
            command: [
                "/usr/bin/borg", "create", "--compression", "zstd,3", home + "/repository::{utcnow}", tree.folder,
            ],
            environment: variables,
            prepare: {
                try place.clear("borg", ["base"])
                _ = try MeasuredRun(
                    ["/usr/bin/borg", "init", "-e", "repokey-blake2", home + "/repository"], environment: variables)
            },
            kept: { _ in try Tree.bytes(of: home + "/repository") })
    }
}
