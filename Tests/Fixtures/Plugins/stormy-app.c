/* SPDX-License-Identifier: Apache-2.0
 * The whole app of the stormy noon: noon asks for the next noon and for the weather, whose arrival is
 * told to people; a tap has a photo sent, whose arrival is told too. Of each wake the first run crashes
 * once it has posted. What is delivered is a line of "told". Parameters of noon: {"url"}. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "misbehave.h"

BG_NOTE("abi=1.0;id=org.example.stormy-app;runtime=c");

#define PHOTO_BYTES (1 << 18)

static bg_str str(const char *text) { return (bg_str){ text, strlen(text) }; }

static const char *text(bg_run run, const char *pointer, char *buffer, size_t size) {
  size_t need = 0;
  if (host->param(host, run, str(pointer), buffer, size - 1, &need) != BG_OK) need = 0;
  buffer[need] = 0;
  return buffer;
}

static FILE *open_data(const bg_run_info *info, const char *name, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%.*s/%s", (int)info->data_dir.len, info->data_dir.ptr, name);
  FILE *file = fopen(path, mode);
  if (file == 0) abort();
  return file;
}

static void ended(void *context, const bg_transfer_end *end) {
  bg_run *run = context;
  finish(*run, end->status == BG_OK ? BG_OK : BG_E_CANCELLED, TEXT(""), NOTHING);
  free(run);
}

HANDLER(noon) {
  (void)plugin;
  const bg_schedule  *schedule = host->extension(host, BG_EXT_SCHEDULE);
  const bg_transfers *transfers = host->extension(host, BG_EXT_TRANSFER);
  if (schedule == 0 || transfers == 0) return BG_E_FAILED;
  /* Tomorrow's first of all, before a byte goes over the network. */
  bg_request next = { .size = sizeof next, .task_id = info->task_id, .params = info->params };
  next.earliest_unix_ms = ((int64_t)time(0) + 86400) * 1000;
  if (schedule->submit(host, &next) != BG_OK) return BG_E_FAILED;
  char                url[256];
  bg_transfer         transfer;
  bg_transfer_request request = { .size = sizeof request, .session = BG_LIT("weather") };
  request.url = str(text(info->run, "/url", url, sizeof url));
  request.continuation = request.url;
  if (transfers->begin(host, info->run, &request, &transfer) != BG_OK) return BG_E_FAILED;
  bg_run *run = malloc(sizeof *run);
  *run = info->run;
  if (transfers->wait(host, info->run, &transfer, ended, run) != BG_OK) return BG_E_FAILED;
  return BG_PENDING;
}

static bg_status post(const bg_run_info *info, const char *id, const char *title, bg_str user_info) {
  const bg_notifier *notifier = host->extension(host, BG_EXT_NOTIFY);
  bg_notification note = { .size = sizeof note, .level = BG_NOTIFY_ACTIVE };
  note.id = str(id);
  note.title = str(title);
  note.user_info = user_info;
  note.actions = (bg_str)BG_LIT("[{\"id\":\"upload\",\"title\":\"Send a photo\"}]");
  return notifier == 0 ? BG_E_FAILED : notifier->post(host, info->run, &note);
}

HANDLER(wake) {
  (void)plugin;
  char session[64], path[4096], url[256], title[128], user_info[512], line[128];
  text(info->run, "/session", session, sizeof session);
  text(info->run, "/transfers/0/continuation", url, sizeof url);
  bg_status status;
  if (strcmp(session, "weather") == 0) {
    struct stat file;
    if (stat(text(info->run, "/transfers/0/file", path, sizeof path), &file) != 0) return BG_E_FAILED;
    snprintf(title, sizeof title, "A storm of %lld bytes", (long long)file.st_size);
    snprintf(user_info, sizeof user_info, "{\"url\":\"%s\"}", url);
    status = post(info, "storm", title, str(user_info));
  } else {
    status = post(info, "sent", "The photo is there", NOTHING);
  }
  snprintf(line, sizeof line, "wake of %s, attempt %u, posted %d", session, info->attempt, status);
  say(info->run, line);
  if (info->attempt == 1) abort();
  return status;
}

HANDLER(tapped) {
  (void)plugin;
  const bg_transfers *transfers = host->extension(host, BG_EXT_TRANSFER);
  if (transfers == 0) return BG_E_FAILED;
  FILE *photo = open_data(info, "photo", "w");
  for (int i = 0; i < PHOTO_BYTES; i++) fputc('p', photo);
  fclose(photo);
  char                path[4096], url[256];
  bg_transfer         transfer;
  bg_transfer_request request = { .size = sizeof request, .session = BG_LIT("photos") };
  snprintf(path, sizeof path, "%.*s/photo", (int)info->data_dir.len, info->data_dir.ptr);
  request.file = str(path);
  request.url = str(text(info->run, "/userInfo/url", url, sizeof url));
  request.flags = BG_TRANSFER_UPLOAD;
  return transfers->begin(host, info->run, &request, &transfer);
}

HANDLER(deliver) {
  (void)plugin;
  FILE *told = open_data(info, "told", "a");
  fprintf(told, "%.*s\n", (int)info->params.len, info->params.ptr);
  fclose(told);
  say(info->run, "told");
  return BG_OK;
}

#define TASK(name, start)                                                                          \
  &(const bg_task) { sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(name), { 0, 0 }, start, 0, 0 }

static const bg_task *const tasks[] = {
  TASK("noon", noon),
  TASK("wake", wake),
  TASK("notificationAction", tapped),
  TASK("deliver", deliver),
};

static const bg_plugin me = { sizeof me,          BG_ABI_MAJOR, 0, BG_LIT("org.example.stormy-app"),
                              BG_LIT("1.0.0"),    BG_LIT("Example"), 0,
                              sizeof tasks / sizeof *tasks, tasks, 0, 0, 0 };

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
