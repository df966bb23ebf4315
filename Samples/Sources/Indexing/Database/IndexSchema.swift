internal import GRDB

/// The tables of the index.
enum IndexSchema {
    /// Marks the database as ours, `PRAGMA application_id`.
    static let application: Int32 = 0x716F_7369

    /// The version of the tables, `PRAGMA user_version`. An index of another version is made anew.
    static let version: Int32 = 5

    /// Makes the tables in an empty database.
    ///
    /// `file` has a row for each regular file that a scan saw. `document` has the text of the indexed ones, by the same
    /// number. The full-text table itself keeps the text: a snippet needs it, and so does the removal of a document,
    /// since SQLite 3.40 has no `contentless_delete`.
    ///
    /// A file without text, such as a photo, has a document of its name alone. `word` lists the words of all documents,
    /// and takes no room.
    ///
    /// The tokenizer (``WordTokenizer``) splits at every character that is neither letter nor digit, underscores included. Each part of
    /// `snake_case` then finds it. The whole finds it too, because a quoted word of two tokens is a phrase. Names weigh
    /// more than text. Beginnings of words, of one and of two letters, have their own lists: the first keystrokes of a
    /// search do not merge the lists of thousands of words.
    ///
    /// - Parameter substrings: Whether to make `part`, too. It has the sequences of three characters of the same texts
    ///   (`trigram`, FTS5 §4.3.4), and takes the texts themselves from `document`.
    /// - Parameter stemming: The languages of which the table has the stems of words, too, at the places of the words.
    static func create(
        in database: Database, folder: String, substrings: Bool, stemming: [StemLanguage]
    ) throws {
        let tokenizer = ([WordTokenizer.name] + stemming.map(\.rawValue)).joined(separator: " ")
        try database.execute(
            sql: """
                CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                CREATE TABLE file (
                    id INTEGER PRIMARY KEY,
                    path BLOB NOT NULL UNIQUE,
                    size INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    changed INTEGER NOT NULL,
                    inode INTEGER NOT NULL,
                    device INTEGER NOT NULL,
                    state INTEGER NOT NULL,
                    racy INTEGER NOT NULL DEFAULT 0,
                    documented INTEGER NOT NULL DEFAULT 0,
                    truncated INTEGER NOT NULL DEFAULT 0,
                    reason TEXT NOT NULL DEFAULT '',
                    detail TEXT NOT NULL DEFAULT ''
                );
                CREATE INDEX file_pending ON file (id) WHERE state = 0;
                CREATE INDEX file_problem ON file (path) WHERE state = 3 OR truncated = 1;
                CREATE VIRTUAL TABLE document USING fts5 (
                    path, title, body, tokenize = '\(tokenizer)', prefix = '1 2'
                );
                CREATE VIRTUAL TABLE word USING fts5vocab (document, row);
                INSERT INTO document (document, rank) VALUES ('rank', 'bm25(4.0, 2.0, 1.0)');
                """
        )
        if substrings {
            try database.execute(
                sql: """
                    CREATE VIRTUAL TABLE part USING fts5 (
                        path, title, body, content = 'document', tokenize = 'words_of_all_scripts trigram'
                    );
                    INSERT INTO part (part, rank) VALUES ('rank', 'bm25(4.0, 2.0, 1.0)');
                    """
            )
        }
        try database.execute(sql: "INSERT INTO setting VALUES ('folder', ?)", arguments: [folder])
        if !stemming.isEmpty {
            let names = stemming.map(\.rawValue).joined(separator: " ")
            try database.execute(sql: "INSERT INTO setting VALUES ('stemming', ?)", arguments: [names])
        }
        try database.execute(sql: "PRAGMA application_id = \(application); PRAGMA user_version = \(version)")
    }

    /// The languages whose word forms an index finds together.
    static func stemming(_ database: Database) throws -> [StemLanguage] {
        let names = try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM setting WHERE name = 'stemming'"))
        return names?.split(separator: " ").compactMap { StemLanguage(rawValue: String($0)) } ?? []
    }

    /// Whether an index finds parts of words.
    static func hasSubstrings(_ database: Database) throws -> Bool { try database.tableExists("part") }
}
