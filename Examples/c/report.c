/* SPDX-License-Identifier: Apache-2.0
 * A handler that fetches a page, counts its own runs in the data directory, and asks for its next run. */
#include <bghost.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

BG_NOTE("abi=1.0;id=org.example.report-c;runtime=c;params=checked");

static const bg_host *host;

static bg_status fail(bg_run run, bg_status status, const char *message, size_t length) {
  bg_result result = { sizeof result, status, { message, length }, { 0, 0 }, 0 };
  return host->complete(host, run, &result) == BG_OK ? BG_PENDING : status;
}
#define FAIL(run, status, message) fail(run, status, message, sizeof(message) - 1)

/* What the run waits for: its thread polls `ended`, and a thread of the host calls done(). */
typedef struct page {
  int       ended;
  bg_status status;
  int       http_status;
  size_t    bytes;
  char      message[256];
} page;

static void done(void *context, bg_fetch fetch, const bg_fetch_result *result) {
  page *page = context;
  (void)fetch;
  /* The memory of the result is the host's: what is needed of it is copied. */
  page->status = result->status;
  page->http_status = result->http_status;
  page->bytes = result->body.len;
  snprintf(page->message, sizeof page->message, "%.*s", (int)result->message.len,
           result->message.ptr ? result->message.ptr : "");
  /* The last access: the run goes on as soon as this has written. A counter of 0 takes it. */
  if (eventfd_write(page->ended, 1) != 0) abort();
}

/* Waits for the end of a fetch, and cancels it as soon as the host cancels the run. */
static bg_status fetch(const bg_run_info *info, bg_str url, page *page) {
  const bg_fetches *fetches = host->extension(host, BG_EXT_FETCH);
  bg_fetch_request  request = { .size = sizeof request, .url = url };
  bg_fetch          number = 0;
  bg_status         status;
  if (!fetches) return BG_E_ABSENT;
  page->ended = eventfd(0, EFD_CLOEXEC);
  if (page->ended < 0) return BG_E_FAILED;
  status = fetches->begin(host, info->run, &request, done, page, &number);
  if (status == BG_OK) {
    struct pollfd both[2] = { { page->ended, POLLIN, 0 }, { info->cancel_fd, POLLIN, 0 } };
    while (poll(both, 2, -1) < 0) continue;
    if (!both[0].revents) {
      /* done() is still called, and until then `page` is in use. */
      fetches->cancel(host, number);
      while (poll(both, 1, -1) < 0) continue;
    }
    status = page->status;
  }
  close(page->ended);
  return status;
}

/* Appends a byte, which runs may do at the same time, and returns how many there are; -1: it cannot. */
static long count(bg_str folder) {
  char        path[4096];
  struct stat facts;
  long        runs = -1;
  int         file;
  /* The text of a bg_str need not end with a NUL. */
  if (snprintf(path, sizeof path, "%.*s/runs", (int)folder.len, folder.ptr) >= (int)sizeof path) return -1;
  file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  if (write(file, ".", 1) == 1 && fstat(file, &facts) == 0) runs = (long)facts.st_size;
  close(file);
  return runs;
}

/* Asks for the next run in so many seconds. */
static bg_status submit(const bg_run_info *info, long seconds) {
  const bg_runs *runs = host->extension(host, BG_EXT_RUN);
  bg_request     next = { .size = sizeof next, .task_id = info->task_id, .params = info->params };
  next.earliest_unix_ms = ((int64_t)time(0) + seconds) * 1000;
  return runs ? runs->submit(host, info->run, &next) : BG_E_ABSENT;
}

static bg_status report(void *plugin, const bg_run_info *info) {
  char      url[2048], again[16] = "", json[96];
  size_t    length = 0, digits = 0;
  page      page = { 0 };
  bg_status status;
  long      seconds = 0, runs;
  int       written;
  (void)plugin;
  if (host->param(host, info->run, (bg_str)BG_LIT("/url"), url, sizeof url, &length) != BG_OK || !length)
    return FAIL(info->run, BG_E_FINAL, "`url` is missing, or longer than 2048 bytes");
  status = host->param(host, info->run, (bg_str)BG_LIT("/again"), again, sizeof again - 1, &digits);
  if (status == BG_OK) seconds = strtol(again, 0, 10);
  if (status != BG_E_ABSENT && (seconds < 1 || seconds > 86400))
    return FAIL(info->run, BG_E_FINAL, "`again` must be 1 to 86400 seconds");

  host->progress(host, info->run, 0, 3, (bg_str)BG_LIT("fetching"));
  status = fetch(info, (bg_str){ url, length }, &page);
  if (status == BG_E_CANCELLED) return BG_E_CANCELLED;
  if (status != BG_OK) {
    for (length = 0; length < sizeof page.message && page.message[length]; length++) continue;
    return fail(info->run, BG_E_FAILED, page.message, length);
  }
  host->progress(host, info->run, 1, 3, (bg_str)BG_LIT("counting"));
  runs = count(info->data_dir);
  if (runs < 0) return FAIL(info->run, BG_E_FAILED, "cannot write to the data directory");
  host->progress(host, info->run, 2, 3, (bg_str)BG_LIT("submitting"));
  if (seconds > 0 && submit(info, seconds) != BG_OK)
    return FAIL(info->run, BG_E_FAILED, "the host does not accept the next request");
  host->progress(host, info->run, 3, 3, (bg_str)BG_LIT("done"));
  host->log(host, info->run, 2, (bg_str)BG_LIT("fetched a page"));
  written = snprintf(json, sizeof json, "{\"status\":%d,\"bytes\":%zu,\"runs\":%ld}", page.http_status,
                     page.bytes, runs);
  bg_result result = { sizeof result, BG_OK, { 0, 0 }, { json, (size_t)written }, 0 };
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

static const bg_task task = {
  sizeof task, BG_TASK_MAY_BLOCK, BG_LIT("report"),
  BG_LIT("{\"type\":\"object\",\"required\":[\"url\"],\"properties\":{\"url\":{\"type\":\"string\"},"
         "\"again\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":86400}}}"),
  report, 0, 0
};
static const bg_task *const tasks[] = { &task };
static const bg_plugin me = { sizeof me, BG_ABI_MAJOR, 0, BG_LIT("org.example.report-c"),
                              BG_LIT("1.0.0"), BG_LIT("Example"), 0, 1, tasks, 0, 0, 0 };

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
