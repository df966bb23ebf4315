// Swift cannot call a C function with a variable number of arguments.
int sqlite3_config(int option, ...);

// Sets an option of the process that is one number. Returns SQLite's result code.
static inline int sqlite3_config_number(int option, int value) { return sqlite3_config(option, value); }
