/* SPDX-License-Identifier: Apache-2.0
 * One handler completes its run and does not come back from start(); another one ends when it is asked to. */
#include <bghost.h>
#include <poll.h>

BG_NOTE("abi=1.0;id=org.example.stay;runtime=c");

static const bg_host *host;

static bg_status stay(void *plugin, const bg_run_info *info) {
  (void)plugin;
  bg_result ok = { sizeof ok, BG_OK, { 0, 0 }, { 0, 0 }, 0 };
  host->complete(host, info->run, &ok);
  poll(0, 0, 600000);
  return BG_PENDING;
}

static bg_status wait_for_cancel(void *plugin, const bg_run_info *info) {
  (void)plugin;
  struct pollfd cancelled = { info->cancel_fd, POLLIN, 0 };
  while (poll(&cancelled, 1, -1) < 0) {
  }
  return BG_E_CANCELLED;
}

static const bg_task staying = { sizeof staying, BG_TASK_MAY_BLOCK, BG_LIT("stay"), { 0, 0 },
                                 stay, 0, 0 };
static const bg_task waiting = { sizeof waiting, BG_TASK_MAY_BLOCK, BG_LIT("wait"), { 0, 0 },
                                 wait_for_cancel, 0, 0 };
static const bg_task *const tasks[] = { &staying, &waiting };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.stay"), BG_LIT("1.0.0"),
                              BG_LIT("Example"), 0, 2, tasks, 0, 0, 0 };
const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
