/* SPDX-License-Identifier: Apache-2.0
 * A plugin of the next minor: its test compiles it against a header in which each struct has one field
 * more. The host of today knows none of them, and must serve it. */
#include <bghost.h>
#include <stdio.h>
#include <string.h>

#ifndef NEXT_HOST_MINOR
#define NEXT_HOST_MINOR 0
#endif

BG_NOTE("abi=1.1;id=test.next-minor;runtime=c");

static const bg_host *host;

static bg_str text(const char *text) { return (bg_str){ text, strlen(text) }; }

static void ended(void *context, bg_fetch fetch, const bg_fetch_result *result) {
  (void)context;
  (void)fetch;
  (void)result;
}

static bg_status use(void *plugin, const bg_run_info *info) {
  const bg_schedule  *schedule = host->extension(host, BG_EXT_SCHEDULE);
  const bg_statuses  *statuses = host->extension(host, BG_EXT_STATUS);
  const bg_runs      *runs = host->extension(host, BG_EXT_RUN);
  const bg_fetches   *fetches = host->extension(host, BG_EXT_FETCH);
  const bg_transfers *transfers = host->extension(host, BG_EXT_TRANSFER);
  const bg_notifier  *notifier = host->extension(host, BG_EXT_NOTIFY);
  (void)plugin;
  if (!schedule || !statuses || !runs || !fetches || !transfers || !notifier) return BG_E_FAILED;
  /* What this plugin would use if the host had it. */
  if (host->size >= offsetof(bg_host, later) + sizeof host->later) return BG_E_FAILED;
  if (info->size >= sizeof *info || schedule->size >= sizeof *schedule) return BG_E_FAILED;

  bg_request request = { .size = sizeof request, .task_id = info->task_id, .later = 1 };
  bg_status  submitted = schedule->submit(host, &request);
  bg_pending pending[2] = { { .size = sizeof *pending } };
  size_t     total = 0;
  bg_status  listed = schedule->pending(host, pending, 2, &total);
  bg_refresh refresh = { .size = sizeof refresh, .later = 7 };
  bg_status  refreshed = statuses->refresh(host, &refresh);
  bg_run_identity identity = { .size = sizeof identity, .later = 7 };
  bg_status       identified = runs->identity(host, info->run, &identity);
  bg_fetch_request    fetch = { .size = sizeof fetch, .url = text("http://127.0.0.1:1/"), .later = 1 };
  bg_status           fetched = fetches->begin(host, info->run, &fetch, ended, 0, 0);
  bg_transfer_request transfer = { .size = sizeof transfer, .session = text("none"), .later = 1 };
  bg_transfer         id;
  transfer.url = fetch.url;
  bg_status       begun = transfers->begin(host, info->run, &transfer, &id);
  bg_notification note = { .size = sizeof note, .id = text("a"), .title = text("b"), .later = 1 };
  bg_status       posted = notifier->post(host, info->run, &note);

  char json[512];
  int  length = snprintf(
      json, sizeof json,
      "{\"submit\":%d,\"pending\":%d,\"total\":%zu,\"task\":%d,\"refresh\":%d,\"identity\":%d,"
      "\"fetch\":%d,\"transfer\":%d,\"post\":%d,\"later\":%d}",
      submitted, listed, total, strncmp(pending[0].task_id, info->task_id.ptr, info->task_id.len),
      refreshed, identified, fetched, begun, posted, (int)(refresh.later + identity.later));
  bg_result result = { .size = sizeof result, .payload = { json, (size_t)length }, .later = 1 };
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

static const bg_task task = { .size = sizeof task, .flags = BG_TASK_MAY_BLOCK,
                              .handler = BG_LIT("use"), .start = use, .later = 1 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin me = { .size = sizeof me, .abi_major = 1, .min_host_minor = NEXT_HOST_MINOR,
                              .id = BG_LIT("test.next-minor"), .version = BG_LIT("1.0.0"),
                              .n_tasks = 1, .tasks = tasks, .later = 1 };

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
