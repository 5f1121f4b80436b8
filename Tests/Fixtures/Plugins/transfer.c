/* SPDX-License-Identifier: Apache-2.0
 * Uses bghost.transfer/1 as handlers do. Parameters say what to transfer: url, session, file, headers,
 * body, label, continuation, flags, earliest. What comes of it is in the log. */
#include "misbehave.h"

BG_NOTE("abi=1.0;id=test.transfer;runtime=c");

static const bg_transfers *transfers;
static const bg_wakes     *wakes;

typedef struct text {
  char   bytes[70000];
  size_t length;
} text;

/* A parameter as text, or "". */
static bg_str value(bg_run run, const char *name, text *room) {
  char pointer[64];
  room->length = 0;
  snprintf(pointer, sizeof pointer, "/%s", name);
  bg_str path = { pointer, strlen(pointer) };
  if (host->param(host, run, path, room->bytes, sizeof room->bytes - 1, &room->length) != BG_OK)
    room->length = 0;
  room->bytes[room->length] = 0;
  return (bg_str){ room->bytes, room->length };
}

static void tell(bg_run run, const char *what, bg_str json) {
  char *line = malloc(json.len + 64);
  snprintf(line, json.len + 64, "%s %.*s", what, (int)json.len, json.ptr);
  say(run, line);
  free(line);
}

static bg_status begin(bg_run run, bg_transfer *out) {
  static _Thread_local text texts[9];
  bg_transfer_request request = { 0 };
  request.size = sizeof request;
  request.url = value(run, "url", &texts[0]);
  request.session = value(run, "session", &texts[1]);
  request.file = value(run, "file", &texts[2]);
  request.headers = value(run, "headers", &texts[3]);
  request.body = value(run, "body", &texts[4]);
  request.label = value(run, "label", &texts[5]);
  request.continuation = value(run, "continuation", &texts[6]);
  value(run, "flags", &texts[7]);
  request.flags = (uint32_t)atoi(texts[7].bytes);
  value(run, "earliest", &texts[8]);
  request.earliest_unix_ms = atoll(texts[8].bytes);
  bg_status status = transfers->begin(host, run, &request, out);
  char line[96];
  if (status == BG_OK)
    snprintf(line, sizeof line, "began %s", out->id);
  else
    snprintf(line, sizeof line, "begin answered %d", status);
  say(run, line);
  return status;
}

/* Begins one and leaves it to itself. */
HANDLER(begin_and_go) {
  (void)plugin;
  bg_transfer transfer;
  return begin(info->run, &transfer) == BG_OK ? BG_OK : BG_E_FAILED;
}

/* Ends a transfer as the parameter `then` says: "cancel", or "acknowledge" its end. */
static void settle(bg_run run, const bg_transfer *transfer) {
  static _Thread_local text word;
  bg_str how = value(run, "then", &word);
  if (how.len == 0) return;
  transfers->cancel(host, transfer);
  if (strcmp(word.bytes, "acknowledge") != 0) return;
  /* Its end may still be on its way, or a wake may have acknowledged it. */
  for (int i = 0; i < 5000 && transfers->acknowledge(host, transfer) != BG_OK; i++) usleep(1000);
}

/* Begins one, before its cancel or after it if there is the parameter `after`, settles it, after the cancel
 * if there is the parameter `late`, and stops 300 ms later. */
HANDLER(begin_and_stop_late) {
  (void)plugin;
  static _Thread_local text word;
  bg_transfer               transfer;
  struct pollfd             stop = { info->cancel_fd, POLLIN, 0 };
  int                       waits = value(info->run, "after", &word).len > 0;
  int                       lingers = value(info->run, "late", &word).len > 0;
  if (!waits) begin(info->run, &transfer);
  if (!waits && !lingers) settle(info->run, &transfer);
  while (poll(&stop, 1, -1) < 0 && errno == EINTR) continue;
  if (waits) begin(info->run, &transfer);
  if (waits || lingers) settle(info->run, &transfer);
  usleep(300 * 1000);
  return BG_OK;
}

typedef struct waiter {
  bg_run run;
} waiter;

static void ended(void *context, const bg_transfer_end *end) {
  waiter *me = context;
  char line[64];
  snprintf(line, sizeof line, "wait answered %d", end->status);
  say(me->run, line);
  if (end->status == BG_OK) tell(me->run, "end", end->transfer);
  finish(me->run, end->status == BG_OK ? BG_OK : BG_E_CANCELLED, TEXT(""), NOTHING);
  free(me);
}

static bg_status await(bg_run run, const bg_transfer *transfer) {
  waiter *me = malloc(sizeof *me);
  me->run = run;
  bg_status status = transfers->wait(host, run, transfer, ended, me);
  if (status == BG_OK) return BG_PENDING;
  free(me);
  return BG_E_FAILED;
}

/* Begins one and waits for its end: succeeded, or cancelledClean when it is to stop. */
HANDLER(begin_and_wait) {
  (void)plugin;
  bg_transfer transfer;
  if (begin(info->run, &transfer) != BG_OK) return BG_E_FAILED;
  return await(info->run, &transfer);
}

/* Waits for the transfer that the parameter `id` names. */
HANDLER(wait_for) {
  (void)plugin;
  static _Thread_local text id;
  bg_transfer transfer = { { 0 } };
  value(info->run, "id", &id);
  memcpy(transfer.id, id.bytes, id.length < 32 ? id.length : 31);
  return await(info->run, &transfer);
}

/* Cancels, or acknowledges, the transfer that the parameter `id` names, and logs the answer. */
static bg_status with_id(bg_run run, bg_status (*call)(const bg_host *, const bg_transfer *)) {
  static _Thread_local text id;
  bg_transfer transfer = { { 0 } };
  value(run, "id", &id);
  memcpy(transfer.id, id.bytes, id.length < 32 ? id.length : 31);
  char line[64];
  snprintf(line, sizeof line, "answered %d", call(host, &transfer));
  say(run, line);
  return BG_OK;
}

HANDLER(cancel_it) {
  (void)plugin;
  return with_id(info->run, transfers->cancel);
}

HANDLER(acknowledge_it) {
  (void)plugin;
  return with_id(info->run, transfers->acknowledge);
}

/* Logs the transfers of the session that the parameter names, and what too small a buffer gets. */
HANDLER(list_all) {
  (void)plugin;
  static _Thread_local text session;
  bg_str name = value(info->run, "session", &session);
  size_t need = 0, again = 0;
  char  *json = malloc(1 << 20), line[96];
  bg_status asked = transfers->list(host, name, 0, 0, 0, &need);
  bg_status small = transfers->list(host, name, 0, json, 3, &again);
  bg_status got = transfers->list(host, name, 0, json, 1 << 20, &again);
  snprintf(line, sizeof line, "answers of list: %d %d %d, %s", asked, small, got,
           need == again ? "the same length" : "other lengths");
  say(info->run, line);
  if (got == BG_OK) tell(info->run, "list", (bg_str){ json, again });
  free(json);
  return BG_OK;
}

static void say_status(bg_run run, const char *what, bg_status status) {
  char line[64];
  snprintf(line, sizeof line, "%s answered %d", what, status);
  say(run, line);
}

/* Keeps the end that the parameter at `pointer` names. */
static bg_status keep(bg_run run, const char *pointer) {
  static _Thread_local text id;
  bg_transfer transfer = { { 0 } };
  value(run, pointer, &id);
  memcpy(transfer.id, id.bytes, id.length < 32 ? id.length : 31);
  return wakes->keep(host, run, &transfer, 1);
}

/* Keeps an end that is not in this run's params, and logs the answer. */
HANDLER(keep_it) {
  (void)plugin;
  say_status(info->run, "keep", keep(info->run, "id"));
  return BG_OK;
}

/* Claims what is kept for the session that the parameter names, logs it, and what asking for the length
 * gets; acknowledges the first of it if there is the parameter `deal`, and fails if there is `fail`. */
HANDLER(claim_all) {
  (void)plugin;
  static _Thread_local text session, word;
  bg_str name = value(info->run, "session", &session);
  size_t need = 0, got = 0;
  char  *json = malloc(1 << 20);
  say_status(info->run, "length", wakes->claim(host, info->run, name, 0, 0, &need));
  say_status(info->run, "small", wakes->claim(host, info->run, name, json, 1, &got));
  bg_status status = wakes->claim(host, info->run, name, json, 1 << 20, &got);
  if (status == BG_OK) tell(info->run, "claimed", (bg_str){ json, got });
  say(info->run, need == got ? "the same length" : "another length");
  if (status == BG_OK && value(info->run, "deal", &word).len > 0) {
    bg_transfer transfer = { { 0 } };
    const char *id = strstr(json, "\"id\":\"");
    if (id) memcpy(transfer.id, id + 6, 26);
    say_status(info->run, "deal", transfers->acknowledge(host, &transfer));
  }
  free(json);
  return value(info->run, "fail", &word).len > 0 ? BG_E_FAILED : BG_OK;
}

/* What a session's end starts: logs what it is told. Of the session `crashing` the first two runs
 * crash; of `renewing` each run begins what its continuation says; of `keeping` each run keeps the first
 * end that it is told of, and tries to keep what it was not told of. */
HANDLER(wake) {
  (void)plugin;
  char line[64];
  snprintf(line, sizeof line, "wake %d attempt %u", (info->flags & BG_RUN_WAKE) != 0, info->attempt);
  say(info->run, line);
  tell(info->run, "told", info->params);
  static _Thread_local text session, url;
  value(info->run, "session", &session);
  if (strcmp(session.bytes, "crashing") == 0 && info->attempt < 3) abort();
  if (strcmp(session.bytes, "failing") == 0) return BG_E_FAILED;
  if (strcmp(session.bytes, "keeping") == 0) {
    bg_transfer strange[2] = { { "00000000000000000000000000" }, { { 0 } } };
    bg_transfer many[1] = { { "00000000000000000000000000" } };
    static _Thread_local text id;
    value(info->run, "transfers/0/id", &id);
    memcpy(strange[1].id, id.bytes, id.length < 32 ? id.length : 31);
    say_status(info->run, "strange", wakes->keep(host, info->run, strange, 2));
    say_status(info->run, "many", wakes->keep(host, info->run, many, 1025));
    say_status(info->run, "none", wakes->keep(host, info->run, 0, 1));
    say_status(info->run, "keep", keep(info->run, "transfers/0/id"));
  }
  if (strcmp(session.bytes, "renewing") == 0) {
    bg_transfer_request request = { 0 };
    bg_transfer out;
    request.size = sizeof request;
    request.session = (bg_str){ session.bytes, session.length };
    request.url = value(info->run, "transfers/0/url", &url);
    if (transfers->begin(host, info->run, &request, &out) != BG_OK) return BG_E_FAILED;
  }
  return BG_OK;
}

#define TASK(name, flags, start)                                                                   \
  &(const bg_task) {                                                                               \
    sizeof(bg_task), flags, BG_LIT(name), { 0, 0 }, start, 0, 0                                    \
  }

static const bg_task *const tasks[] = {
  TASK("begin", BG_TASK_MAY_BLOCK, begin_and_go),
  TASK("late", BG_TASK_MAY_BLOCK, begin_and_stop_late),
  TASK("await", BG_TASK_MAY_BLOCK, begin_and_wait),
  TASK("wait", BG_TASK_MAY_BLOCK, wait_for),
  TASK("cancel", BG_TASK_MAY_BLOCK, cancel_it),
  TASK("acknowledge", BG_TASK_MAY_BLOCK, acknowledge_it),
  TASK("list", BG_TASK_MAY_BLOCK, list_all),
  TASK("keep", BG_TASK_MAY_BLOCK, keep_it),
  TASK("claim", BG_TASK_MAY_BLOCK, claim_all),
  TASK("wake", BG_TASK_MAY_BLOCK, wake),
};

static const bg_plugin plugin_table = {
  sizeof plugin_table, BG_ABI_MAJOR, 0, BG_LIT("test.transfer"), BG_LIT("1.0.0"),
  BG_LIT("Fixtures"),  0,            sizeof tasks / sizeof *tasks, tasks, 0, 0, 0,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  transfers = host->extension(host, BG_EXT_TRANSFER);
  wakes = host->extension(host, BG_EXT_WAKE);
  return &plugin_table;
}
