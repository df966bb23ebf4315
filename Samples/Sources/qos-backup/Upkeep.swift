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
            let (options, percent) = (options, readData?.value ?? 0)
            CommandProcess.backup(at: .background).run {
                let report = try await RepositoryCheck(try options.open(), readingPercent: percent).run()
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
            abstract: "Removes snapshots that no rule keeps. 'prune' then frees the space.")

        @OptionGroup var options: RepositoryOptions

        @Option(help: "Keep this many last snapshots of each folder.")
        var keepLast = 0
        @Option(help: "Keep the last snapshot of each of this many days that have one.")
        var keepDaily = 0
        @Option(help: "The same for weeks.")
        var keepWeekly = 0
        @Option(help: "The same for months.")
        var keepMonthly = 0
        @Option(help: "The same for years.")
        var keepYearly = 0
        @Flag(help: "Only show what would be removed.")
        var dryRun = false

        func validate() throws {
            guard !policy.keepsNothing else {
                throw ValidationError("Name at least one rule, such as --keep-daily 7. Else no snapshot would stay.")
            }
        }

        private var policy: RetentionPolicy {
            var policy = RetentionPolicy()
            policy.last = keepLast
            policy.daily = keepDaily
            policy.weekly = keepWeekly
            policy.monthly = keepMonthly
            policy.yearly = keepYearly
            return policy
        }

        func run() throws {
            let (options, policy, dryRun) = (options, policy, dryRun)
            CommandProcess.backup(at: .userInitiated).run {
                let repository = try options.open()
                let all = try repository.snapshots().snapshots
                let forgotten = policy.toForget(all)
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
            let options = options
            CommandProcess.backup(at: .background).run {
                let report = try await PruneRun(try options.open()).run()
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
