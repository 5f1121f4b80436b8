/* SPDX-License-Identifier: Apache-2.0
 * Each run leaves one line with its task's identifier in the data directory: an effect that can be
 * counted after crashes. */
#include <bghost.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

BG_NOTE("abi=1.0;id=org.example.mark;runtime=c");

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  char path[4096], line[256];
  snprintf(path, sizeof path, "%.*s/marks", (int)info->data_dir.len, info->data_dir.ptr);
  int length = snprintf(line, sizeof line, "%.*s\n", (int)info->task_id.len, info->task_id.ptr);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return BG_E_FAILED;
  int written = write(fd, line, (size_t)length) == length;
  close(fd);
  return written ? BG_OK : BG_E_FAILED;
}

static const bg_task mark = { sizeof mark, 0, BG_LIT("mark"), { 0, 0 }, start, 0, 0 };
static const bg_task *const tasks[] = { &mark };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.mark"), BG_LIT("1.0.0"),
                              BG_LIT("Example"), 0, 1, tasks, 0, 0, 0 };
const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  (void)host;
  return &me;
}
