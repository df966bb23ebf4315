internal import GRDB
internal import TreeScan

extension SearchIndex {
    /// An open database, with the notice from its opening.
    struct Opened {
        var pool: DatabasePool
        var counts = IndexCounts()
        var problems: [FileProblem] = []
        var notice: String?
    }

    /// Opens or makes the database. A damaged or outdated one is moved aside, because the files can be read again.
    static func openDatabase(
        _ files: IndexFiles,
        folder: String,
        options: IndexSettings,
        isThorough: Bool
    ) throws(IndexError) -> Opened {
        var notice: String?
        // Before the database is opened: an open one may be written at any moment.
        let isAsClosed = isThorough ? nil : DatabaseDigest.matches(files)
        DatabaseDigest.remove(files)
        do {
            let pool = try IndexDatabase.open(files.database, sizeLimit: options.databaseSizeLimit)
            switch try IndexDatabase.examine(pool, folder: folder, isThorough: isThorough) {
            case .ours where isAsClosed == false:
                try pool.close()
                notice = try moveDamagedAside(
                    files, detail: "its bytes are not those that were written", options: options)
            case .ours:
                return try pool.read { database in
                    guard try !options.substrings || IndexSchema.hasSubstrings(database) else {
                        throw IndexError.noSubstrings(path: files.database)
                    }
                    let stemming = try IndexSchema.stemming(database)
                    guard options.stemming.isEmpty || options.stemming == stemming else {
                        throw IndexError.otherStemming(path: files.database, languages: stemming)
                    }
                    let table = FileTable(database: database)
                    return try Opened(
                        pool: pool,
                        counts: table.counts(),
                        problems: table.problems(limit: FileProblem.limit)
                    )
                }
            case .empty:
                try pool.write {
                    try IndexSchema.create(
                        in: $0, folder: folder, substrings: options.substrings, stemming: options.stemming)
                }
                return Opened(pool: pool)
            case .foreign:
                throw IndexError.notAnIndex(path: files.database)
            case .otherFolder(let owner):
                throw IndexError.otherFolder(path: files.database, folder: owner)
            case .outdated:
                try pool.close()
                let aside = try files.moveAside(label: "outdated", time: options.now()) ?? "nowhere"
                notice = "The index was made by another version. It was moved to \(aside) and is made anew."
            case .damaged(let detail):
                try pool.close()
                notice = try moveDamagedAside(files, detail: detail, options: options)
            }
        } catch let error as DatabaseError where error.isDamage {
            notice = try moveDamagedAside(files, detail: error.summary, options: options)
        } catch {
            throw translate(error, files)
        }
        return try makeDatabase(files, folder: folder, options: options, notice: notice)
    }

    /// Moves a damaged database aside. The result tells the user.
    static func moveDamagedAside(
        _ files: IndexFiles,
        detail: String,
        options: IndexSettings
    ) throws(IndexError) -> String {
        guard let aside = try files.moveAside(label: "corrupt", time: options.now()) else {
            return "The index was removed (\(detail)). It is made anew from the files."
        }
        return "The index was damaged (\(detail)). It was moved to \(aside) and is made anew from the files."
    }

    /// Makes an empty database where there is none.
    static func makeDatabase(
        _ files: IndexFiles,
        folder: String,
        options: IndexSettings,
        notice: String?
    ) throws(IndexError) -> Opened {
        try files.prepare()
        do {
            let pool = try IndexDatabase.open(files.database, sizeLimit: options.databaseSizeLimit)
            try pool.write {
                try IndexSchema.create(
                    in: $0, folder: folder, substrings: options.substrings, stemming: options.stemming)
            }
            return Opened(pool: pool, notice: notice)
        } catch {
            throw translate(error, files)
        }
    }

    /// Turns an error of the layers below into one of the index's.
    static func translate(_ error: any Error, _ files: IndexFiles) -> IndexError {
        switch error {
        case let error as IndexError: error
        case let error as TreeScanError: .folder(error)
        case let error as DatabaseError where error.isDamage: .damaged(path: files.database, detail: error.summary)
        case let error as DatabaseError: .database(path: files.database, detail: error.summary)
        default: .database(path: files.database, detail: "\(error)")
        }
    }
}
