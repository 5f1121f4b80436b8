/* SPDX-License-Identifier: Apache-2.0
 * The source of abi-1.0-*.so: a plugin as it was built against ABI 1.0. Every later host loads that
 * binary and runs its handlers. Neither is ever built or changed again. */
#include "bghost.h"

BG_NOTE("abi=1.0;id=test.abi-1.0;runtime=c");

static const bg_host *host;

static bg_status open_(const bg_host *given, bg_str config, void **plugin) {
  static int opened;
  (void)config;
  host = given;
  *plugin = &opened;
  given->log(given, 0, 2, (bg_str)BG_LIT("opened"));
  return BG_OK;
}

static void close_(void *plugin) {
  (void)plugin;
  host = 0;
}

static bg_status succeed(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  return BG_OK;
}

static bg_status echo(void *plugin, const bg_run_info *info) {
  bg_result result = { sizeof result, BG_OK, BG_LIT("echo"), info->params, 0 };
  (void)plugin;
  if (info->task == 0 || info->task->start != echo) return BG_E_FAILED;
  host->complete(host, info->run, &result);
  return BG_PENDING;
}

static bg_status wait(void *plugin, const bg_run_info *info) {
  static int state;
  (void)plugin;
  host->set_state(host, info->run, &state);
  host->progress(host, info->run, 1, 2, (bg_str)BG_LIT("waiting"));
  return BG_PENDING;
}

static void stop(void *plugin, bg_run run, void *state, uint32_t why) {
  bg_result result = { sizeof result, BG_E_CANCELLED, BG_LIT("stopped"), { 0, 0 }, 0 };
  (void)plugin;
  (void)why;
  if (state != 0 && host->cancelled(host, run) > 0) host->complete(host, run, &result);
}

static void release(void *plugin, bg_run run, void *state) {
  (void)plugin;
  host->log(host, run, 2, state ? (bg_str)BG_LIT("released") : (bg_str)BG_LIT("no state"));
}

static const bg_task tasks[] = {
  { sizeof(bg_task), 0, BG_LIT("succeed"), { 0, 0 }, succeed, 0, 0 },
  { sizeof(bg_task), 0, BG_LIT("echo"), BG_LIT("{\"type\":\"object\"}"), echo, 0, release },
  { sizeof(bg_task), BG_TASK_SERIAL, BG_LIT("honour-cancel"), { 0, 0 }, wait, stop, release },
};

static const bg_task *const list[] = { &tasks[0], &tasks[1], &tasks[2] };

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.abi-1.0"), BG_LIT("1.0.0"), BG_LIT("Fixtures"), 0, 3, list,
  open_, 0, close_,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin;
}
