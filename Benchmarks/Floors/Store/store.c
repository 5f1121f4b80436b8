/* SPDX-License-Identifier: Apache-2.0
 * SQLite with the least around it: one table and an index on the begin date, as a queue written by
 * hand would have them. */
#include "store.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { payload_bytes = 200 };

static char payload[payload_bytes];

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(sqlite3 *db, const char *what) {
  fprintf(stderr, "store-floors: %s: %s\n", what, db ? sqlite3_errmsg(db) : "failed");
  exit(1);
}

static void run(sqlite3 *db, sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) die(db, sqlite3_sql(statement));
  sqlite3_reset(statement);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) die(db, sql);
  return statement;
}

typedef struct {
  sqlite3      *db;
  sqlite3_stmt *begin, *insert, *commit;
} store;

static store open_new(const char *folder) {
  store s;
  char  path[4096];
  memset(payload, 'p', sizeof payload);
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/floor.db%s", folder, suffixes[i]);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/floor.db", folder);
  if (sqlite3_open(path, &s.db) != SQLITE_OK) die(s.db, path);
  const char *tables =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8000;"
      "CREATE TABLE task (id INTEGER PRIMARY KEY, state INT, begin_at INT, kind TEXT, payload BLOB);"
      "CREATE INDEX due ON task (state, begin_at);";
  if (sqlite3_exec(s.db, tables, NULL, NULL, NULL) != SQLITE_OK) die(s.db, "make the tables");
  s.begin = prepare(s.db, "BEGIN IMMEDIATE");
  s.insert = prepare(
      s.db, "INSERT INTO task (state, begin_at, kind, payload) VALUES (0, ?1, 'noop', ?2)");
  s.commit = prepare(s.db, "COMMIT");
  return s;
}

static void keep(store *s, int from, int to) {
  run(s->db, s->begin);
  for (int i = from; i < to; i++) {
    sqlite3_bind_int64(s->insert, 1, i);
    sqlite3_bind_blob(s->insert, 2, payload, payload_bytes, SQLITE_STATIC);
    run(s->db, s->insert);
  }
  run(s->db, s->commit);
}

static void close_store(store *s) {
  sqlite3_finalize(s->begin);
  sqlite3_finalize(s->insert);
  sqlite3_finalize(s->commit);
  sqlite3_close(s->db);
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

int store_lone(const char *folder, int count) {
  store     s = open_new(folder);
  uint64_t *ns = calloc((size_t)count, sizeof *ns);
  if (!ns) die(NULL, "memory");
  for (int i = 0; i < count; i++) {
    uint64_t before = now_ns();
    keep(&s, i, i + 1);
    ns[i] = now_ns() - before;
  }
  qsort(ns, (size_t)count, sizeof *ns, ascending);
  printf("p50 %.3f\np99 %.3f\n", (double)ns[count / 2] / 1e3,
         (double)ns[(count - 1) * 99 / 100] / 1e3);
  free(ns);
  close_store(&s);
  return 0;
}

/* One thread brings tasks, as long as fewer than so many wait; another keeps all that it finds. */
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t  work, room;
  int             count, window, pushed, done;
  store           store;
} queue;

static void *committer(void *context) {
  queue *q = context;
  for (;;) {
    pthread_mutex_lock(&q->lock);
    while (q->pushed == q->done && q->done < q->count) pthread_cond_wait(&q->work, &q->lock);
    int from = q->done, to = q->pushed;
    pthread_mutex_unlock(&q->lock);
    if (from == q->count) return NULL;
    keep(&q->store, from, to);
    pthread_mutex_lock(&q->lock);
    q->done = to;
    pthread_cond_signal(&q->room);
    pthread_mutex_unlock(&q->lock);
  }
}

int store_group(const char *folder, int window, int count) {
  queue q = {.count = count, .window = window, .store = open_new(folder)};
  pthread_mutex_init(&q.lock, NULL);
  pthread_cond_init(&q.work, NULL);
  pthread_cond_init(&q.room, NULL);
  pthread_t thread;
  uint64_t  before = now_ns();
  if (pthread_create(&thread, NULL, committer, &q) != 0) die(NULL, "start a thread");
  for (int i = 0; i < count; i++) {
    pthread_mutex_lock(&q.lock);
    while (q.pushed - q.done >= window) pthread_cond_wait(&q.room, &q.lock);
    q.pushed++;
    pthread_cond_signal(&q.work);
    pthread_mutex_unlock(&q.lock);
  }
  pthread_join(thread, NULL);
  printf("per-second %.0f\n", count / ((double)(now_ns() - before) / 1e9));
  close_store(&q.store);
  return 0;
}

/* Reads every column of every row, as a program that loads its queue does. */
int store_scan(const char *path, const char *table) {
  char     sql[256];
  sqlite3 *db;
  int64_t  sum = 0, rows = 0;
  uint64_t before = now_ns();
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) die(db, path);
  snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
  sqlite3_stmt *scan = prepare(db, sql);
  int           columns = sqlite3_column_count(scan);
  while (sqlite3_step(scan) == SQLITE_ROW) {
    rows++;
    for (int i = 0; i < columns; i++) {
      switch (sqlite3_column_type(scan, i)) {
      case SQLITE_INTEGER: sum += sqlite3_column_int64(scan, i); break;
      case SQLITE_NULL: break;
      default:
        sum += *(const unsigned char *)sqlite3_column_blob(scan, i) + sqlite3_column_bytes(scan, i);
      }
    }
  }
  sqlite3_finalize(scan);
  sqlite3_close(db);
  /* The sum is used, so that the values are read. */
  printf("ms %.3f\nrows %lld\nsum %lld\n", (double)(now_ns() - before) / 1e6, (long long)rows,
         (long long)sum);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "lone") == 0) return store_lone(argv[2], atoi(argv[3]));
  if (argc == 5 && strcmp(argv[1], "group") == 0)
    return store_group(argv[2], atoi(argv[3]), atoi(argv[4]));
  if (argc == 4 && strcmp(argv[1], "scan") == 0) return store_scan(argv[2], argv[3]);
  if (argc == 3 && strcmp(argv[1], "queue") == 0) return priority_queue(atoi(argv[2]));
  fputs("usage: store-floors lone FOLDER N\n"
        "       store-floors group FOLDER WINDOW N\n"
        "       store-floors scan DATABASE TABLE\n"
        "       store-floors queue N\n",
        stderr);
  return 64;
}
