/* SPDX-License-Identifier: Apache-2.0
 * Reads the file that the parameter `path` names, or has the daemon send it. Ends at once with `"path": ""`. */
#include <fcntl.h>
#include <unistd.h>

#include "bghost.h"

BG_NOTE("abi=1.0;id=org.example.read-file;runtime=c");

static const bg_host *host;

/* The parameter `path`; -1 without it, or its length. */
static long given_path(bg_run run, char *path, size_t size) {
  size_t need = 0;
  if (host->param(host, run, (bg_str)BG_LIT("/path"), path, size - 1, &need) != BG_OK) return -1;
  path[need] = 0;
  return (long)need;
}

static void sent(void *context, bg_fetch fetch, const bg_fetch_result *result) {
  bg_result end = { sizeof end, result->status, result->message, { 0, 0 }, 0 };
  (void)fetch;
  host->complete(host, (bg_run)(uintptr_t)context, &end);
}

static bg_status send_file(void *plugin, const bg_run_info *info) {
  char path[4096];
  (void)plugin;
  long length = given_path(info->run, path, sizeof path);
  if (length < 0) return BG_E_FAILED;
  const bg_fetches *fetches = host->extension(host, BG_EXT_FETCH);
  bg_fetch_request  request = { .size = sizeof request, .url = BG_LIT("http://127.0.0.1:1/"),
                                .method = BG_LIT("PUT") };
  request.body_file = (bg_str){ path, (size_t)length };
  void *context = (void *)(uintptr_t)info->run;
  return fetches->begin(host, info->run, &request, sent, context, 0) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  char path[4096], byte;
  long length = given_path(info->run, path, sizeof path);
  if (length < 0) return BG_E_FAILED;
  if (length == 0) return BG_OK;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd >= 0 && read(fd, &byte, 1) == 1 ? BG_OK : BG_E_FAILED;
}

static const bg_task reader = { sizeof reader, BG_TASK_MAY_BLOCK, BG_LIT("read"), { 0, 0 }, start, 0, 0 };
static const bg_task sender = { sizeof sender, BG_TASK_MAY_BLOCK, BG_LIT("send"), { 0, 0 }, send_file, 0, 0 };
static const bg_task *const tasks[] = { &reader, &sender };
static const bg_plugin me = { sizeof me, 1, 0, BG_LIT("org.example.read-file"), BG_LIT("1.0.0"),
                              BG_LIT("Fixtures"), 0, 2, tasks, 0, 0, 0 };
const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
