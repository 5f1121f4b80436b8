-- A store as a daemon with GRDB left it: three requests, of which one ran, one was cancelled, one waits.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES('1');
INSERT INTO grdb_migrations VALUES('2');
INSERT INTO grdb_migrations VALUES('3');
INSERT INTO grdb_migrations VALUES('4');
INSERT INTO grdb_migrations VALUES('5');
INSERT INTO grdb_migrations VALUES('6');
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    incarnation INTEGER NOT NULL,
    clean INTEGER NOT NULL,
    copied INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES(1,1,1,0);
CREATE TABLE request (
    id BLOB PRIMARY KEY NOT NULL,
    task TEXT NOT NULL,
    parameters TEXT NOT NULL,
    submitted_at INTEGER NOT NULL,
    earliest_begin INTEGER,
    latest_begin INTEGER,
    priority INTEGER NOT NULL,
    requirements INTEGER NOT NULL,
    simulated INTEGER NOT NULL,
    slot INTEGER,
    missed_count INTEGER,
    missed_from INTEGER,
    submitter INTEGER NOT NULL,
    submitter_run BLOB,
    failures INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    interruptions INTEGER NOT NULL,
    died_at INTEGER,
    dead_run BLOB,
    dead_reason TEXT,
    sum INTEGER NOT NULL
, tolerance INTEGER, aim INTEGER, submitter_plugin TEXT) STRICT, WITHOUT ROWID;
INSERT INTO request VALUES(X'00000000000000010000000000000002','task2','{"number":2}',2,NULL,NULL,500,0,0,NULL,NULL,NULL,0,NULL,0,0,0,NULL,NULL,NULL,7547631550082004191,NULL,NULL,NULL);
CREATE TABLE lease (
    id BLOB NOT NULL,
    request BLOB NOT NULL,
    task TEXT NOT NULL,
    plugin TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    state TEXT NOT NULL,
    outcome INTEGER,
    outcome_detail INTEGER,
    stop_reason INTEGER,
    message TEXT NOT NULL,
    result TEXT NOT NULL,
    progress_done INTEGER,
    progress_total INTEGER,
    progress_phase TEXT,
    runtime_s INTEGER NOT NULL,
    runtime_as INTEGER NOT NULL,
    grace_s INTEGER NOT NULL,
    grace_as INTEGER NOT NULL,
    pid INTEGER,
    submitted_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    duration_s INTEGER,
    duration_as INTEGER,
    cpu_s INTEGER,
    cpu_as INTEGER,
    peak_memory INTEGER,
    output_bytes INTEGER NOT NULL,
    sum INTEGER NOT NULL, kind TEXT, source INTEGER, crash TEXT, output INTEGER,
    PRIMARY KEY (request)
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    id BLOB NOT NULL,
    request BLOB NOT NULL,
    task TEXT NOT NULL,
    plugin TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    state TEXT NOT NULL,
    outcome INTEGER,
    outcome_detail INTEGER,
    stop_reason INTEGER,
    message TEXT NOT NULL,
    result TEXT NOT NULL,
    progress_done INTEGER,
    progress_total INTEGER,
    progress_phase TEXT,
    runtime_s INTEGER NOT NULL,
    runtime_as INTEGER NOT NULL,
    grace_s INTEGER NOT NULL,
    grace_as INTEGER NOT NULL,
    pid INTEGER,
    submitted_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    duration_s INTEGER,
    duration_as INTEGER,
    cpu_s INTEGER,
    cpu_as INTEGER,
    peak_memory INTEGER,
    output_bytes INTEGER NOT NULL,
    sum INTEGER NOT NULL
, kind TEXT, source INTEGER, crash TEXT, output INTEGER) STRICT;
INSERT INTO run VALUES(1,1795387094822605268,216,X'00000000000000020000000000000000',X'00000000000000010000000000000000','task0','plugin',1,0,'ended',0,NULL,NULL,'run 0','',NULL,NULL,NULL,25,0,5,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,-2980931496621897800,NULL,NULL,NULL,NULL);
CREATE TABLE task (
    identifier TEXT PRIMARY KEY NOT NULL,
    debt_points INTEGER NOT NULL,
    debt_changed_at INTEGER NOT NULL,
    debt_last_end INTEGER NOT NULL,
    last_slot INTEGER,
    schedule TEXT NOT NULL,
    scheduled_since INTEGER,
    sum INTEGER NOT NULL
, parked_since INTEGER, served TEXT, uses TEXT, throttle_runs TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE switched_off (
    plugin TEXT PRIMARY KEY NOT NULL,
    reason TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    places INTEGER NOT NULL,
    lines BLOB NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
INSERT INTO journal VALUES(3,3,1795387094743446624,165,3,-3116954335229644699,X'0308616363657074656401000000000000000000000000000000050000007461736b300308616363657074656401000000000000000100000000000000050000007461736b310308616363657074656401000000000000000200000000000000050000007461736b32',4947313424098016355);
INSERT INTO journal VALUES(5,2,1795387094822605268,334,2,8879963866120295881,X'0705626567616e01000000000000000000000000000000050000007461736b30020000000000000000000000000000000f05656e64656401000000000000000000000000000000050000007461736b300200000000000000000000000000000009000000737563636565646564',-3371066532202143036);
INSERT INTO journal VALUES(6,1,1795387094833760992,421,1,-1222880289268219153,X'010963616e63656c6c656401000000000000000100000000000000',4198142695715110701);
CREATE TABLE runtime (
    minute INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    kind TEXT NOT NULL,
    nanoseconds INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (minute, plugin, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE notification (
    plugin TEXT NOT NULL,
    id TEXT NOT NULL,
    key BLOB NOT NULL,
    token TEXT NOT NULL,
    state INTEGER NOT NULL,
    posted_at INTEGER NOT NULL,
    due INTEGER NOT NULL,
    occurrence INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    replaces INTEGER NOT NULL,
    delivered_at INTEGER,
    fault TEXT NOT NULL,
    level INTEGER NOT NULL,
    title TEXT NOT NULL,
    subtitle TEXT NOT NULL,
    body TEXT NOT NULL,
    thread TEXT NOT NULL,
    category TEXT NOT NULL,
    user_info TEXT NOT NULL,
    actions TEXT NOT NULL,
    repeats TEXT NOT NULL,
    calendar TEXT NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (plugin, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE quarantine (
    plugin TEXT PRIMARY KEY NOT NULL,
    library TEXT NOT NULL,
    host TEXT NOT NULL,
    since INTEGER NOT NULL,
    reason TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE origin (
    number INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    library TEXT NOT NULL,
    manifest TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
CREATE TABLE output (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    lines TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
CREATE INDEX request_dead ON request (died_at, dead_run) WHERE died_at IS NOT NULL;
CREATE INDEX run_id ON run (id);
CREATE INDEX run_request ON run (request);
CREATE INDEX run_task ON run (task);
COMMIT;
PRAGMA application_id = 1650944115;
PRAGMA user_version = 6;
