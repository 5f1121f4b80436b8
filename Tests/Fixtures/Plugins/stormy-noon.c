/* SPDX-License-Identifier: Apache-2.0
 * The handler of the stormy noon's story: it asks for the next noon first of all, and then does what
 * its parameters say. {"next": unix milliseconds, "how": "quick" | "slow" | "deaf"} */
#include "misbehave.h"

BG_NOTE("abi=1.0;id=org.example.stormy-noon;runtime=c");

static int text(bg_run run, const char *pointer, char *value, size_t capacity) {
  size_t need = 0;
  bg_str at = { pointer, strlen(pointer) };
  if (host->param(host, run, at, value, capacity - 1, &need) != BG_OK || need >= capacity) return 0;
  value[need] = 0;
  return 1;
}

static void ask_for_next(const bg_run_info *info) {
  char next[32], how[16], params[96], line[48];
  if (!text(info->run, "/next", next, sizeof next)) return;
  if (!text(info->run, "/how", how, sizeof how)) return;
  long long noon = atoll(next);
  snprintf(params, sizeof params, "{\"next\":%lld,\"how\":\"%s\"}", noon + 86400000, how);
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  bg_request request = { sizeof request, 0, info->task_id, { params, strlen(params) }, noon, 0, 0 };
  snprintf(line, sizeof line, "asked for the next noon: %d",
           schedule == 0 ? BG_E_ABSENT : schedule->submit(host, &request));
  say(info->run, line);
}

HANDLER(noon) {
  (void)plugin;
  char how[16] = "quick";
  ask_for_next(info);
  text(info->run, "/how", how, sizeof how);
  if (strcmp(how, "quick") == 0) {
    finish(info->run, BG_OK, TEXT("a quiet noon"), NOTHING);
    return BG_PENDING;
  }
  /* The network is slow. One of the two does not listen, either. */
  while (strcmp(how, "deaf") == 0 || !is_cancelled(info->run)) poll(0, 0, 1);
  return BG_E_CANCELLED;
}

static const bg_task task = { sizeof task, BG_TASK_MAY_BLOCK, BG_LIT("noon"), { 0, 0 }, noon, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.stormy-noon"), BG_LIT("1.0.0"),
                              BG_LIT("Example"), 0, 1, tasks, 0, 0, 0 };

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
