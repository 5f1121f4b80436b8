/* SPDX-License-Identifier: Apache-2.0
 * Fetches the parameter `url` as often as the parameter `count` says, all at once.
 *
 * `read` takes the answers and ends with how many came whole. `hoard` stops all threads but its own
 * before, so that nothing reads what the host answers. `fill` has the host keep all that it can be made
 * to besides: output, notifications, and requests of 60 KiB until they are refused or there are as many
 * as the parameter `requests` says. */
#include <dirent.h>
#include <sys/syscall.h>

#include "misbehave.h"

BG_NOTE("abi=1.0;id=test.hoard;runtime=c");

static const bg_fetches *fetches;
static atomic_long left, whole;
static bg_run reader;
static long long expected;

static long long number(bg_run run, const char *pointer) {
  char text[32] = "";
  size_t need = 0;
  bg_str path = { pointer, strlen(pointer) };
  return host->param(host, run, path, text, sizeof text - 1, &need) == BG_OK ? atoll(text) : 0;
}

static void done(void *context, bg_fetch fetch, const bg_fetch_result *result) {
  (void)context, (void)fetch;
  unsigned long long sum = 0;
  if (result->status == BG_OK)
    for (size_t at = 0; at < result->body.len; at++) sum += (unsigned char)result->body.ptr[at];
  if (result->status == BG_OK && (long long)sum == expected) atomic_fetch_add(&whole, 1);
  if (atomic_fetch_sub(&left, 1) > 1) return;
  char text[32];
  snprintf(text, sizeof text, "%ld", atomic_load(&whole));
  finish(reader, BG_OK, TEXT(""), (bg_str){ text, strlen(text) });
}

static void begin_all(bg_run run, long count) {
  char   url[256] = "";
  size_t length = 0;
  host->param(host, run, TEXT("/url"), url, sizeof url - 1, &length);
  bg_fetch_request request = { .size = sizeof request, .url = { url, length } };
  request.max_bytes = 64ll << 20;
  for (long each = 0; each < count; each++)
    if (fetches->begin(host, run, &request, done, 0, 0) != BG_OK) say(run, "begin failed");
}

HANDLER(read_all) {
  (void)plugin;
  long count = (long)number(info->run, "/count");
  expected = number(info->run, "/sum");
  reader = info->run;
  atomic_store(&left, count);
  atomic_store(&whole, 0);
  begin_all(info->run, count);
  return BG_PENDING;
}

static void stop(int signal) {
  (void)signal;
  for (;;) pause();
}

static void stop_others(void) {
  struct sigaction action = { .sa_handler = stop };
  sigaction(SIGUSR1, &action, 0);
  DIR *threads = opendir("/proc/self/task");
  for (struct dirent *entry; threads && (entry = readdir(threads));) {
    pid_t thread = atoi(entry->d_name);
    if (thread > 0 && thread != (pid_t)syscall(SYS_gettid)) syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
  }
}

HANDLER(hoard) {
  (void)plugin;
  stop_others();
  begin_all(info->run, (long)number(info->run, "/count"));
  say(info->run, "all have begun");
  for (;;) pause();
}

static void print_much(bg_run run) {
  static char line[4096];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  /* Beyond the limit of output, and not so far that it ends the run */
  for (int count = 0; count < 120; count++)
    if (write(1, line, sizeof line) < 0) break;
  for (int count = 0; count < 120; count++) host->log(host, run, 2, (bg_str){ line, 4000 });
}

static void post_much(bg_run run) {
  const bg_notifier *notifier = host->extension(host, BG_EXT_NOTIFY);
  static char        body[4000];
  memset(body, 'x', sizeof body);
  for (int count = 0; notifier && count < 200; count++) {
    char id[32];
    snprintf(id, sizeof id, "%d", count);
    bg_notification note = { .size = sizeof note, .level = BG_NOTIFY_ACTIVE };
    note.id = (bg_str){ id, strlen(id) };
    note.title = TEXT("title");
    note.body = (bg_str){ body, sizeof body };
    note.at_unix_ms = 4102444800000; /* 2100 */
    notifier->post(host, run, &note);
  }
}

/* Logs "submitted N, then STATUS". */
static void submit_much(bg_run run, long most) {
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  static char        params[60 << 10];
  memset(params, 'x', sizeof params);
  memcpy(params, "{\"x\":\"", 6);
  memcpy(params + sizeof params - 2, "\"}", 2);
  long      count = 0;
  bg_status status = BG_OK;
  for (; count < most; count++) {
    char task[64];
    snprintf(task, sizeof task, "later.%ld", count);
    bg_request request = { .size = sizeof request, .earliest_unix_ms = 4102444800000 };
    request.task_id = (bg_str){ task, strlen(task) };
    request.params = (bg_str){ params, sizeof params };
    if ((status = schedule->submit(host, &request)) != BG_OK) break;
  }
  char line[64];
  snprintf(line, sizeof line, "submitted %ld, then %d", count, status);
  say(run, line);
}

HANDLER(fill) {
  (void)plugin;
  submit_much(info->run, (long)number(info->run, "/requests"));
  post_much(info->run);
  print_much(info->run);
  stop_others();
  begin_all(info->run, (long)number(info->run, "/count"));
  for (;;) pause();
}

#define TASK(name, start)                                                                          \
  &(const bg_task) {                                                                               \
    sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(name), { 0, 0 }, start, 0, 0                        \
  }

static const bg_task *const tasks[] = { TASK("read", read_all), TASK("hoard", hoard),
                                       TASK("fill", fill) };

static const bg_plugin plugin_table = {
  sizeof plugin_table, BG_ABI_MAJOR, 0, BG_LIT("test.hoard"), BG_LIT("1.0.0"),
  BG_LIT("Fixtures"),  0,            sizeof tasks / sizeof *tasks, tasks, 0, 0, 0,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  fetches = host->extension(host, BG_EXT_FETCH);
  return &plugin_table;
}
