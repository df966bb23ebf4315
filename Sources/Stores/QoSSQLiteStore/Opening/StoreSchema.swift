#if SQLite
internal import GRDB

/// The tables of a store and their versions.
enum StoreSchema {
    /// The file's application id: the bytes "QoSW".
    static let application: Int32 = 0x516F_5357

    /// The steps from each version to the next. A step that was released never changes: a change is a new step.
    static let steps: [String] = [first, second, third, fourth, fifth]

    private static let first = """
        -- One row: the latest time that the store was given, the last number, and the number of lanes.
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1), latest INTEGER, last_id INTEGER NOT NULL, lanes INTEGER NOT NULL);
        INSERT INTO store VALUES (1, NULL, 0, 0);

        CREATE TABLE workload (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, paused TEXT, paused_since INTEGER);

        -- A set of conditions as canonical JSON, and how a host judged it last. Gate 0 has no conditions.
        CREATE TABLE gate (
            id INTEGER PRIMARY KEY, conditions TEXT NOT NULL UNIQUE, closed TEXT, closed_since INTEGER);
        INSERT INTO gate VALUES (0, '[]', NULL, NULL);

        CREATE TABLE lane (
            id INTEGER PRIMARY KEY, workload INTEGER NOT NULL, gate INTEGER NOT NULL, UNIQUE (workload, gate));

        -- The turns of a workload in a class. Workload 0 has the turn of the last claim of the class. Class -1 has the
        -- place of the item that was planned again last, after the clock was set back (`Replanned`), while others wait.
        CREATE TABLE flow (
            class INTEGER NOT NULL, workload INTEGER NOT NULL, turns INTEGER NOT NULL,
            PRIMARY KEY (class, workload)) WITHOUT ROWID;

        -- All that changes in the life of an item. Times are nanoseconds since 1970.
        -- place: 0 in no queue, 1 in its lane, 2 in the line of its full key, 3 waits for its time.
        -- state: 0 scheduled, 1 blocked, 2 deferred, 3 ready, 4 running, 5 finished, 6 cancelled, 7 dead.
        -- level: 16 times the rank of the class, plus 15, plus the relative priority.
        -- flags: 1 has begun, 2 triggered again, 4 ignores its conditions, 8 has a checkpoint.
        CREATE TABLE item (
            id INTEGER PRIMARY KEY, workload INTEGER NOT NULL, lane INTEGER NOT NULL, place INTEGER NOT NULL,
            level INTEGER NOT NULL, due INTEGER NOT NULL, state INTEGER NOT NULL, since INTEGER NOT NULL,
            flags INTEGER NOT NULL, attempts INTEGER NOT NULL, fence INTEGER NOT NULL, beat INTEGER NOT NULL,
            finished_runs INTEGER NOT NULL, failed_runs INTEGER NOT NULL,
            inserted INTEGER NOT NULL, window_end INTEGER NOT NULL, planned INTEGER NOT NULL,
            last_run INTEGER, delay_length INTEGER, delay_begin INTEGER, first_trigger INTEGER,
            reason TEXT NOT NULL, host TEXT, cancellation TEXT, last_error TEXT, progress TEXT,
            key TEXT, key_limit INTEGER);
        CREATE INDEX item_ready ON item (lane, level DESC, due) WHERE place = 1;
        CREATE INDEX item_parked ON item (key, lane, level DESC, due) WHERE place = 2;
        CREATE INDEX item_due ON item (level, due) WHERE place = 3;
        CREATE INDEX item_running ON item (key) WHERE state = 4;
        CREATE INDEX item_ended ON item (since) WHERE state >= 5;
        CREATE INDEX item_dead ON item (id) WHERE state = 7;

        -- What an item was inserted with. options: the request as JSON without name, parameters and level; NULL if all
        -- of it is the default.
        CREATE TABLE request (
            item INTEGER PRIMARY KEY, level INTEGER NOT NULL, parameters BLOB NOT NULL, options TEXT);
        CREATE TABLE checkpoint (item INTEGER PRIMARY KEY, bytes BLOB NOT NULL);

        CREATE TABLE unique_key (key TEXT PRIMARY KEY, item INTEGER NOT NULL) WITHOUT ROWID;
        -- The time of the last claim of an item with the key, while one runs.
        CREATE TABLE key_use (key TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;

        -- Unfinished parents of unfinished children. cancels: the child is cancelled if the parent fails.
        CREATE TABLE dependency (
            child INTEGER NOT NULL, parent INTEGER NOT NULL, cancels INTEGER NOT NULL,
            PRIMARY KEY (child, parent)) WITHOUT ROWID;
        CREATE INDEX dependency_parent ON dependency (parent, child);

        -- Ended items whose children are not all released yet.
        CREATE TABLE release (parent INTEGER PRIMARY KEY);
        """

    /// The term by which a request may be on file events. Its text is part of the second step.
    static let mayBeOnFileEvents = "instr(request.options, '\"onFileEvents\":') > 0"

    /// Hosts look for the items on file events after each change.
    private static let second = """
        CREATE INDEX request_on_file_events ON request (item) WHERE instr(options, '"onFileEvents":') > 0;
        """

    /// Each item of a key goes by its own limit, so parked items are found by it. An item that has a place is parked no
    /// more.
    private static let third = """
        UPDATE item SET place = 1 WHERE place = 2 AND key_limit >
            (SELECT count(*) FROM item AS one INDEXED BY item_running WHERE one.state = 4 AND one.key = item.key);
        DROP INDEX item_parked;
        CREATE INDEX item_parked ON item (key, lane, key_limit, level DESC, due) WHERE place = 2;
        """

    /// Versions of parameters have lanes of their own. The rest is what an item needs to be judged after a crash, and what
    /// people want to know: the number of items, the last failed attempts, and the parents of items that were cancelled
    /// because of them.
    ///
    /// The number of a tally: the lane, and then the class, the state and the place of its items, as in `tallyCode`.
    private static let fourth = """
        CREATE TABLE lane_new (
            id INTEGER PRIMARY KEY, workload INTEGER NOT NULL, gate INTEGER NOT NULL,
            version INTEGER NOT NULL DEFAULT 1, UNIQUE (workload, gate, version));
        INSERT INTO lane_new (id, workload, gate) SELECT id, workload, gate FROM lane;
        DROP TABLE lane;
        ALTER TABLE lane_new RENAME TO lane;

        ALTER TABLE item ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE item ADD COLUMN deferrals INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE attempt (
            item INTEGER NOT NULL, fence INTEGER NOT NULL, number INTEGER NOT NULL, host TEXT NOT NULL,
            began INTEGER NOT NULL, ended INTEGER NOT NULL, error TEXT NOT NULL,
            PRIMARY KEY (item, fence)) WITHOUT ROWID;

        -- All lost parents of an item that was cancelled because of one of them.
        CREATE TABLE orphan (
            parent INTEGER NOT NULL, child INTEGER NOT NULL, PRIMARY KEY (parent, child)) WITHOUT ROWID;
        CREATE INDEX orphan_child ON orphan (child, parent);

        -- The last child that was released or revived; the next step goes on behind it.
        ALTER TABLE release ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE tally (code INTEGER PRIMARY KEY, items INTEGER NOT NULL);
        INSERT INTO tally
            SELECT \(tallyCode("item")) AS code, count(*) FROM item GROUP BY code;
        CREATE TRIGGER tally_insert AFTER INSERT ON item BEGIN
            INSERT INTO tally VALUES (\(tallyCode("NEW")), 1) ON CONFLICT DO UPDATE SET items = items + 1;
        END;
        CREATE TRIGGER tally_delete AFTER DELETE ON item BEGIN
            UPDATE tally SET items = items - 1 WHERE code = \(tallyCode("OLD"));
        END;
        CREATE TRIGGER tally_update AFTER UPDATE OF lane, level, state, place ON item
        WHEN \(tallyCode("OLD")) <> \(tallyCode("NEW")) BEGIN
            UPDATE tally SET items = items - 1 WHERE code = \(tallyCode("OLD"));
            INSERT INTO tally VALUES (\(tallyCode("NEW")), 1) ON CONFLICT DO UPDATE SET items = items + 1;
        END;
        """

    /// Changes of the tallies that are not in their table yet, as JSON, by their numbers. See `TallyChanges`.
    private static let fifth = """
        ALTER TABLE store ADD COLUMN tally_changes TEXT NOT NULL DEFAULT '{}';
        """

    static func tallyCode(_ row: String) -> String {
        "\(row).lane * 256 + (\(row).level / 16) * 32 + \(row).state * 4 + \(row).place"
    }

    /// Makes the tables, or brings those of an older version up to the last step. Within a transaction.
    static func migrate(_ database: Database, from version: Int, by steps: [String]) throws {
        for step in steps.dropFirst(version) { try database.execute(sql: step) }
        try database.execute(sql: "PRAGMA application_id = \(application)")
        try database.execute(sql: "PRAGMA user_version = \(steps.count)")
    }
}
#endif
