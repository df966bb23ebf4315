// Swift cannot call a C function with a variable number of arguments.
struct sqlite3;
int sqlite3_config(int option, ...);
int sqlite3_db_config(struct sqlite3 *database, int option, ...);

// Sets an option of the process that is one number. Returns SQLite's result code.
static inline int sqlite3_config_number(int option, int value) { return sqlite3_config(option, value); }

// Sets an option of a connection that is one number. Returns SQLite's result code.
static inline int sqlite3_db_config_number(struct sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}
