internal import ArgumentParser
internal import Backup
internal import QoSCore
internal import SampleCommand

extension BackupCommand {
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Looks for damage in the repository, in the background.")

        @OptionGroup var options: RepositoryOptions

        @Option(
            defaultAsFlag: Percent(value: 100),
            help: "Also read every byte of the packs, or of a share of them: --read-data=1%.")
        var readData: Percent? = nil

        func run() throws {
            let (prepared, percent) = (try options.prepare(), readData?.value ?? 0)
            CommandProcess.backup(at: .background).run {
                let report = try await RepositoryCheck(try prepared.open(), readingPercent: percent).run()
                for problem in report.problems { complain("Damage: \(problem)") }
                say(
                    "Checked \(counted(report.snapshots, "snapshot")); read \(counted(report.packsRead, "pack")), "
                        + "\(size(report.bytesRead)); \(counted(report.problems.count, "problem")).")
                if !report.problems.isEmpty { throw CommandStatus.failure }
            }
        }
    }

    struct Forget: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes snapshots that no rule keeps, or that are named. 'prune' then frees the space.")

        @OptionGroup var options: RepositoryOptions

        @Argument(help: "The first digits of the names of snapshots to remove. Without one, the rules decide.")
        var snapshots: [String] = []

        @OptionGroup var filter: FilterOptions

        @Option(help: "Keep this many last snapshots of each folder.")
        var keepLast = 0
        @Option(help: "Keep the last snapshot of each of this many hours that have one.")
        var keepHourly = 0
        @Option(help: "The same for days.")
        var keepDaily = 0
        @Option(help: "The same for weeks.")
        var keepWeekly = 0
        @Option(help: "The same for months.")
        var keepMonthly = 0
        @Option(help: "The same for years.")
        var keepYearly = 0
        @Option(
            help: "Keep all snapshots of this time before the last one: numbers with y, m, w, d or h, such as 1y6m.",
            transform: { text in
                guard let span = RetentionPolicy.Span(text) else {
                    throw ValidationError(
                        "'\(text)' is no time. Write numbers with y, m, w, d or h, such as 30d or 1y6m.")
                }
                return span
            })
        var keepWithin: RetentionPolicy.Span?
        @Flag(help: "Only show what would be removed.")
        var dryRun = false

        func validate() throws {
            let counts = [
                ("last", keepLast), ("hourly", keepHourly), ("daily", keepDaily), ("weekly", keepWeekly),
                ("monthly", keepMonthly), ("yearly", keepYearly),
            ]
            for (name, count) in counts where count < 0 {
                throw ValidationError("--keep-\(name) takes a number of snapshots from 0 on, not \(count).")
            }
            guard snapshots.isEmpty else {
                guard policy.keepsNothing else {
                    throw ValidationError("Name snapshots, or give rules, but not both.")
                }
                return
            }
            guard !policy.keepsNothing else {
                throw ValidationError("Name at least one rule, such as --keep-daily 7. Else no snapshot would stay.")
            }
        }

        private var policy: RetentionPolicy {
            var policy = RetentionPolicy()
            policy.last = keepLast
            policy.hourly = keepHourly
            policy.within = keepWithin
            policy.daily = keepDaily
            policy.weekly = keepWeekly
            policy.monthly = keepMonthly
            policy.yearly = keepYearly
            return policy
        }

        func run() throws {
            let (prepared, policy, dryRun, names) = (try options.prepare(), policy, dryRun, snapshots)
            let filter = filter.filter
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try prepared.open()
                let all = try repository.snapshots().snapshots
                let forgotten: [Snapshot]
                if names.isEmpty {
                    let counted = all.filter(filter.matches)
                    prepared.complainOfFuture(counted)
                    forgotten = policy.toForget(counted)
                } else {
                    forgotten = try names.map { name in
                        // The last one is a matter of clocks, and nothing to remove by.
                        guard name != "latest" else { throw BackupError.unknownSnapshot(name, matches: 0) }
                        return try repository.snapshot(named: name)
                    }
                }
                for snapshot in forgotten {
                    say("\(dryRun ? "would forget" : "forgot") \(snapshot.shortName)  \(time(snapshot.time))")
                }
                if !dryRun { try repository.forget(forgotten) }
                let left = all.count - forgotten.count
                say("\(counted(left, "snapshot")) \(dryRun ? "would stay" : left == 1 ? "stays" : "stay").")
                if !dryRun, !forgotten.isEmpty { say("Their space is still in use. qos-backup prune frees it.") }
            }
        }
    }

    struct Prune: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Frees the space of forgotten snapshots, in the background. Backups may run meanwhile.")

        @OptionGroup var options: RepositoryOptions

        func run() throws {
            let prepared = try options.prepare()
            CommandProcess.backup(at: .background).run {
                let report = try await PruneRun(try prepared.open()).run()
                say(
                    "Removed \(counted(report.removed, "pack")), \(size(report.freed)); "
                        + "wrote \(size(report.rewritten)) again.")
                if report.waste > 0 {
                    say(
                        "\(size(report.waste)) that no snapshot needs stay: a pack is written again when a quarter of it "
                            + "is waste.")
                }
                if report.postponed > 0 {
                    complain(
                        "Packs that hold waste, and stay: \(report.postponed). The disk has no room to write the rest of "
                            + "them again. Free some space, or forget more snapshots, and run again.")
                }
                if report.waiting > 0 {
                    say(
                        "Packs that wait for the next prune: \(report.waiting). Another run is using the repository.")
                }
            }
        }
    }
}
