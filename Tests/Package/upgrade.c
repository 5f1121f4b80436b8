/* SPDX-License-Identifier: Apache-2.0
 * Handlers for an upgrade of the package: two that it interrupts, and one that notes each of its runs. */
#include <bghost.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

BG_NOTE("abi=1.0;id=org.example.upgrade;runtime=c");
static const bg_host *host;

static const bg_checkpoints *checkpoints(void) { return host->extension(host, BG_EXT_CHECKPOINT); }

static bg_status finish(const bg_run_info *info, const char *json) {
  bg_result result = { sizeof result, BG_OK, BG_LIT("resumed"), { json, strlen(json) }, 0 };
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

/* Whether an earlier attempt of the request has saved something. */
static int is_resumed(const bg_run_info *info) {
  char   saved[16];
  size_t need = 0;
  return checkpoints()->load(host, info->run, saved, sizeof saved, &need) == BG_OK;
}

/* Waits until it is cancelled, saves and stops; the next attempt succeeds. */
static bg_status cooperate(void *plugin, const bg_run_info *info) {
  struct pollfd stop = { info->cancel_fd, POLLIN, 0 };
  (void)plugin;
  if (is_resumed(info)) return finish(info, "{\"resumed\":true}");
  while (poll(&stop, 1, -1) < 1) {}
  return checkpoints()->save(host, info->run, "half", 4) == BG_OK ? BG_E_CANCELLED : BG_E_FAILED;
}

/* Saves and never stops; the next attempt succeeds. */
static bg_status persist(void *plugin, const bg_run_info *info) {
  (void)plugin;
  if (is_resumed(info)) return finish(info, "{\"resumed\":true}");
  if (checkpoints()->save(host, info->run, "begun", 5) != BG_OK) return BG_E_FAILED;
  for (;;) pause();
}

/* Appends the parameter `n` to the file `notes` of the data directory. */
static bg_status note(void *plugin, const bg_run_info *info) {
  char   path[4096], line[32];
  size_t need = 0;
  (void)plugin;
  if (host->param(host, info->run, (bg_str)BG_LIT("/n"), line, sizeof line - 1, &need) != BG_OK) return BG_E_ARG;
  line[need++] = '\n';
  snprintf(path, sizeof path, "%.*s/notes", (int)info->data_dir.len, info->data_dir.ptr);
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return BG_E_FAILED;
  ssize_t written = write(file, line, need);
  close(file);
  return written == (ssize_t)need ? BG_OK : BG_E_FAILED;
}

#define TASK(function) { sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(#function), { 0, 0 }, function, 0, 0 }
static const bg_task table[] = { TASK(cooperate), TASK(persist), TASK(note) };
static const bg_task *const tasks[] = { &table[0], &table[1], &table[2] };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.upgrade"), BG_LIT("1.0.0"),
                              BG_LIT("Tests"), 0, 3, tasks, 0, 0, 0 };
const bg_plugin *bghost_plugin_v1(const bg_host *given) { host = given; return &me; }
