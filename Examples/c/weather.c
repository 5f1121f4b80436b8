/* SPDX-License-Identifier: Apache-2.0
 * A handler that reads a barometer five times: a fall of more than 10 hPa is a storm. */
#include <bghost.h>
#include <poll.h>
#include <stdio.h>
BG_NOTE("abi=1.0;id=org.example.weather;runtime=c");
static const bg_host *host;
static bg_status watch(void *plugin, const bg_run_info *info) {
  static const int readings[5] = { 1013, 1010, 1006, 1001, 995 };
  struct pollfd    stop = { info->cancel_fd, POLLIN, 0 };
  char             json[64];
  (void)plugin;
  for (unsigned n = 0; n < 5; n++) {
    if (poll(&stop, 1, 20) > 0) return BG_E_CANCELLED; /* asked to stop: poll wakes up at once */
    host->progress(host, info->run, n + 1, 5, (bg_str)BG_LIT("reading"));
  }
  int fall = readings[0] - readings[4];
  int length = snprintf(json, sizeof json, "{\"fall\":%d,\"storm\":%s}", fall,
                        fall > 10 ? "true" : "false");
  bg_result result = { sizeof result, BG_OK, BG_LIT("five readings"), { json, (size_t)length }, 0 };
  /* Plain BG_OK would do, were there no payload. */
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
}
static const bg_task task = { sizeof task, BG_TASK_MAY_BLOCK, BG_LIT("weather.watch"),
                              { 0, 0 }, watch, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.weather"), BG_LIT("1.0.0"),
                              BG_LIT("Example"), 0, 1, tasks, 0, 0, 0 };
const bg_plugin *bghost_plugin_v1(const bg_host *given) { host = given; return &me; }
