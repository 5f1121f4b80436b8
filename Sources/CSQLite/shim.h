#pragma once
#include <sqlite3.h>

/// Refuses double quotes around texts: SQLite takes an unknown column name for a text otherwise.
///
/// Swift cannot call `sqlite3_db_config`, which is variadic.
static inline void csqlite_refuse_double_quoted_texts(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

/// Runs no trigger and reads no view of the file: bghost makes none, so another program would have.
static inline void csqlite_refuse_triggers_and_views(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}
