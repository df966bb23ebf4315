internal import Backup
internal import Sync
internal import SyncAgent
internal import TreeScan

extension SettingsReader {
    /// Returns the settings of the backups; nil if none are wanted.
    ///
    /// - Parameter folder: The folder that is saved if no other is named.
    /// - Throws: `SettingsError`, also for a repository that cannot be opened.
    func backup(of folder: String) async throws -> BackupSettings? {
        guard let given = try await text("backupRepository") else {
            for key in ["backupPasswordFile", "restoreFolder"] where try await text(key) != nil {
                throw Self.needs(key, "backupRepository")
            }
            for key in ["backupFolder", "backupExclude", "backupIgnoreFile"] where try await !list(key).isEmpty {
                throw Self.needs(key, "backupRepository")
            }
            return nil
        }
        guard let file = try await text("backupPasswordFile") else {
            throw SettingsError(
                description: "The backups need a passphrase. Write it into a file that only the service's user may "
                    + "read, and name the file with --backup-password-file.")
        }
        let folders = try await list("backupFolder")
        var settings = BackupSettings(
            repository: Repository.isRemote(given) ? given : IndexLocation.canonical(given), passphraseFile: file,
            folders: (folders.isEmpty ? [folder] : folders).map(IndexLocation.canonical))
        settings.excludes = try await list("backupExclude")
        settings.ignoreFiles = try await list("backupIgnoreFile")
        settings.interval = try await seconds("backupInterval") ?? settings.interval
        settings.checkInterval = try await seconds("checkInterval") ?? settings.checkInterval
        settings.checkShare = try await number("checkShare", in: 0...100) ?? settings.checkShare
        settings.policy.last = try await number("keepLast", in: 0...100_000) ?? 0
        settings.policy.daily = try await number("keepDaily", in: 0...100_000) ?? 0
        settings.policy.weekly = try await number("keepWeekly", in: 0...100_000) ?? 0
        settings.policy.monthly = try await number("keepMonthly", in: 0...100_000) ?? 0
        settings.policy.yearly = try await number("keepYearly", in: 0...100_000) ?? 0
        settings.restoreFolder = try await text("restoreFolder").map(IndexLocation.canonical)
        try Self.check(settings)
        return settings
    }

    private static func check(_ settings: BackupSettings) throws(SettingsError) {
        do {
            _ = try ExcludeRules(settings.excludes)
            for folder in settings.folders {
                guard let root = try? RootFolder(folder) else { continue }
                try ExcludeRules.check(settings.excludes, for: root.absolutePaths)
            }
        } catch {
            throw SettingsError(description: "--backup-exclude: \(error)")
        }
        for name in settings.ignoreFiles where name.isEmpty || name.contains("/") {
            throw SettingsError(
                description: "--backup-ignore-file: \"\(name)\" is no name. Give one without a slash, such as "
                    + ".gitignore.")
        }
        let repository = settings.repository
        for folder in settings.folders {
            try checkFolder(folder)
            if RootFolder.contains(folder, repository) {
                throw SettingsError(
                    description: "The repository \(repository) is inside \(folder), which it saves. Keep it outside, "
                        + "best on another disk.")
            }
            if RootFolder.contains(repository, folder) {
                throw SettingsError(
                    description: "\(folder) is inside the repository \(repository). Name another --backup-folder.")
            }
        }
        if let folder = settings.restoreFolder {
            try checkFolder(folder)
            guard !RootFolder.contains(folder, repository), !RootFolder.contains(repository, folder) else {
                throw SettingsError(
                    description: "The restores in \(folder) could write into the repository \(repository). Name "
                        + "another --restore-folder.")
            }
        }
        do {
            _ = try Repository.open(at: repository, passphrase: try PassphraseFile(settings.passphraseFile).read())
        } catch BackupError.notARepository {
            throw SettingsError(
                description: "\(repository) is not a repository. Make one with: qos-backup init -r \(repository) "
                    + "--password-file \(settings.passphraseFile)",
                status: .noInput)
        } catch BackupError.unreachable {
            // Storage behind a network may be away for a while. The workloads try again.
        } catch BackupError.wrongPassphrase {
            throw SettingsError(
                description: "The passphrase in \(settings.passphraseFile) does not open \(repository). Write the one "
                    + "that was given to 'qos-backup init' into the file.")
        } catch {
            throw SettingsError(description: "\(error)")
        }
    }

    /// Returns the settings of the sync; nil if none is wanted.
    ///
    /// - Throws: `SettingsError`, also for a pair that cannot be in step.
    func sync() async throws -> SyncSettings? {
        switch (try await text("syncA"), try await text("syncB")) {
        case (nil, nil):
            guard try await text("syncTokenFile") == nil else { throw Self.needs("syncTokenFile", "syncB") }
            return nil
        case (.some, nil): throw Self.needs("syncA", "syncB")
        case (nil, .some): throw Self.needs("syncB", "syncA")
        case (let a?, let b?):
            var settings = SyncSettings(a: IndexLocation.canonical(a), b: IndexLocation.canonical(b))
            do {
                guard try AgentAddress(a) == nil else {
                    throw SettingsError(
                        description: "Only --sync-b may be the address of an agent. Change places with --sync-a.")
                }
                settings.agent = try AgentAddress(b)
            } catch let error as AgentError {
                throw Self.cannotSync(error)
            }
            if let agent = settings.agent { settings.b = agent.description }
            settings.tokenFile = try await text("syncTokenFile")
            settings.mode = try await choice("syncMode") ?? settings.mode
            settings.policy = try await choice("syncConflict") ?? settings.policy
            settings.maximumDeletions = try await number("syncMaxDelete", in: 0...100) ?? settings.maximumDeletions
            settings.archive = try await text("syncArchive")
            settings.excludes = try await excludes()
            settings.interval = try await seconds("syncInterval") ?? settings.interval
            try Self.check(settings)
            return settings
        }
    }

    /// The patterns of the file, then the others.
    private func excludes() async throws -> ExcludeRules {
        let (file, list) = (try await text("syncExcludeFrom"), try await list("syncExclude"))
        do {
            let patterns = try file.map { try ExcludeRules.patterns(in: $0) } ?? []
            return try ExcludeRules(patterns + list)
        } catch {
            throw Self.cannotSync(error)
        }
    }

    private static func check(_ settings: SyncSettings) throws(SettingsError) {
        for folder in settings.folders { try checkFolder(folder) }
        switch (settings.agent, settings.tokenFile) {
        case (nil, .some):
            throw SettingsError(
                description: "\(option("syncTokenFile")) has no meaning for a folder of this machine. Leave it out, or "
                    + "name an agent's address with \(option("syncB")).")
        case (.some, nil):
            throw SettingsError(
                description: "An agent needs its token. Copy its token file, and name it with "
                    + "\(option("syncTokenFile")).")
        default: break
        }
        var options = SyncOptions()
        options.archive = settings.archive
        options.excludes = settings.excludes
        do {
            // No request is sent: an agent may be away for a while. The workload asks it.
            if let agent = settings.agent, let file = settings.tokenFile {
                let token = try AgentToken.load(file, makes: false)
                guard !RootFolder.contains(settings.a, IndexLocation.canonical(file)) else {
                    throw AgentError.tokenInside(file, folder: settings.a)
                }
                _ = try SyncRun(a: settings.a, agent: agent, token: token, options: options)
            } else {
                _ = try SyncRun(a: settings.a, b: settings.b, options: options)
            }
        } catch SyncError.inUse {
            // The command may be at work on the same pair. The workload tries again.
        } catch {
            throw cannotSync(error)
        }
    }

    /// The error for a sync that cannot begin, with the service's names of the options.
    private static func cannotSync(_ error: any Error) -> SettingsError {
        let text = "\(error)".replacing("--archive", with: option("syncArchive"))
            .replacing("--token-file", with: option("syncTokenFile"))
        return SettingsError(description: "The sync cannot begin. \(text)")
    }

    private static func checkFolder(_ path: String) throws(SettingsError) {
        do {
            _ = try RootFolder(path)
        } catch {
            throw SettingsError(description: "\(error)", status: .noInput)
        }
    }

    private static func needs(_ key: String, _ other: String) -> SettingsError {
        SettingsError(description: "\(option(key)) has no meaning without \(option(other)). Give both.")
    }
}
