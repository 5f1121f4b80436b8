/* SPDX-License-Identifier: Apache-2.0
 * Reads the file that the parameter `path` names. Ends at once with `"path": ""`. */
#include <fcntl.h>
#include <unistd.h>

#include "bghost.h"

BG_NOTE("abi=1.0;id=org.example.read-file;runtime=c");

static const bg_host *host;

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  char   path[4096], byte;
  size_t need = 0;
  if (host->param(host, info->run, (bg_str)BG_LIT("/path"), path, sizeof path - 1, &need) != BG_OK)
    return BG_E_FAILED;
  path[need] = 0;
  if (need == 0) return BG_OK;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd >= 0 && read(fd, &byte, 1) == 1 ? BG_OK : BG_E_FAILED;
}

static const bg_task reader = { sizeof reader, BG_TASK_MAY_BLOCK, BG_LIT("read"), { 0, 0 }, start, 0, 0 };
static const bg_task *const tasks[] = { &reader };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.read-file"), BG_LIT("1.0.0"),
                              BG_LIT("Fixtures"), 0, 1, tasks, 0, 0, 0 };
const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
