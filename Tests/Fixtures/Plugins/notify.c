/* SPDX-License-Identifier: Apache-2.0
 * A plugin that posts notifications, delivers them into a file of its data directory, and takes what
 * people answer. Files in that directory steer it: "refuse" has deliveries fail, "hold" has them last
 * until they are killed, "fail-once" has the next answer fail. */
#include <fcntl.h>

#include "misbehave.h"

BG_NOTE("abi=1.0;id=test.notify;runtime=c");

static const char *text(bg_run run, const char *pointer, char *buffer, size_t size) {
  size_t need = 0;
  bg_str path = { pointer, strlen(pointer) };
  if (host->param(host, run, path, buffer, size - 1, &need) != BG_OK) need = 0;
  buffer[need] = 0;
  return buffer;
}

static bg_str str(const char *text) { return (bg_str){ text, strlen(text) }; }

static void path_of(const bg_run_info *info, const char *name, char *path, size_t size) {
  snprintf(path, size, "%.*s/%s", (int)info->data_dir.len, info->data_dir.ptr, name);
}

static int is_there(const bg_run_info *info, const char *name) {
  char path[4096];
  path_of(info, name, path, sizeof path);
  return access(path, F_OK) == 0;
}

static void add_line(const bg_run_info *info, const char *name, bg_str line) {
  char path[4096];
  path_of(info, name, path, sizeof path);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) abort();
  if (dprintf(fd, "%.*s\n", (int)line.len, line.ptr) < 0) abort();
  close(fd);
}

/* succeeded; logs what post() answered; params: {"id", "title", "actions", "userInfo", "calendar",
 * "at", "every"}: at is milliseconds from the epoch, every is milliseconds. A post that is promised is in "posted". */
HANDLER(post) {
  (void)plugin;
  const bg_notifier *notifier = host->extension(host, BG_EXT_NOTIFY);
  char id[256], title[8192], actions[4096], user_info[8192], at[64], every[64], calendar[128];
  char line[64];
  text(info->run, "/id", id, sizeof id);
  if (notifier == 0) return BG_E_FAILED;
  bg_notification note = { .size = sizeof note, .level = BG_NOTIFY_ACTIVE };
  note.id = str(id);
  note.title = str(text(info->run, "/title", title, sizeof title));
  note.actions = str(text(info->run, "/actions", actions, sizeof actions));
  note.user_info = str(text(info->run, "/userInfo", user_info, sizeof user_info));
  note.calendar = str(text(info->run, "/calendar", calendar, sizeof calendar));
  note.at_unix_ms = atoll(text(info->run, "/at", at, sizeof at));
  note.every_ms = atoll(text(info->run, "/every", every, sizeof every));
  bg_status status = notifier->post(host, info->run, &note);
  if (status == BG_OK) add_line(info, "posted", note.id);
  snprintf(line, sizeof line, "post answered %d", status);
  say(info->run, line);
  return BG_OK;
}

/* succeeded; logs what post() makes of what no notification can be */
HANDLER(odd_posts) {
  (void)plugin;
  const bg_notifier *notifier = host->extension(host, BG_EXT_NOTIFY);
  if (notifier == 0) return BG_E_FAILED;
  bg_notification good = { .size = sizeof good, .id = BG_LIT("odd"), .title = BG_LIT("t") };
  bg_notification bad[6];
  for (int i = 0; i < 6; i++) bad[i] = good;
  bad[0].size--;
  bad[1].id.len = SIZE_MAX;
  bad[2].title = (bg_str)BG_LIT("\xff");
  bad[3].level = 9;
  bad[4].user_info = (bg_str)BG_LIT("[1]");
  bad[5].at_unix_ms = INT64_MIN;
  char line[160];
  int  length = snprintf(line, sizeof line, "odd posts %d %d", notifier->post(host, 0, 0),
                         notifier->post(host, info->run + 1024, &good));
  for (int i = 0; i < 6; i++) {
    length += snprintf(line + length, sizeof line - (size_t)length, " %d",
                       notifier->post(host, info->run, &bad[i]));
  }
  say(info->run, line);
  return BG_OK;
}

/* succeeded; logs what withdraw() answered; params: {"id"} */
HANDLER(withdraw) {
  (void)plugin;
  const bg_notifier *notifier = host->extension(host, BG_EXT_NOTIFY);
  char id[256], line[64];
  text(info->run, "/id", id, sizeof id);
  snprintf(line, sizeof line, "withdraw answered %d", notifier->withdraw(host, str(id)));
  say(info->run, line);
  return BG_OK;
}

/* succeeded, with the pending notifications as the result */
HANDLER(pending) {
  (void)plugin;
  const bg_notifier *notifier = host->extension(host, BG_EXT_NOTIFY);
  size_t need = 0, again = 0;
  if (notifier->pending(host, 0, 0, &need) != BG_OK) return BG_E_FAILED;
  char *buffer = malloc(need + 1);
  if (buffer == 0) return BG_E_FAILED;
  bg_status small = need > 0 ? notifier->pending(host, buffer, need - 1, &again) : BG_E_SMALL;
  bg_status got = notifier->pending(host, buffer, need, &again);
  if (small == (need > 1 ? BG_E_SMALL : BG_OK) && got == BG_OK && again == need) {
    finish(info->run, BG_OK, NOTHING, (bg_str){ buffer, need });
  } else {
    finish(info->run, BG_E_FAILED, TEXT("pending() contradicts itself"), NOTHING);
  }
  free(buffer);
  return BG_PENDING;
}

/* succeeded or failed, as the files say; the parameters are a line of "told" */
HANDLER(deliver) {
  (void)plugin;
  if (is_there(info, "refuse")) {
    finish(info->run, BG_E_FAILED, TEXT("no receiver"), NOTHING);
    return BG_PENDING;
  }
  add_line(info, "told", info->params);
  say(info->run, "told");
  if (is_there(info, "hold")) {
    while (!is_cancelled(info->run)) usleep(10000);
    return BG_E_CANCELLED;
  }
  return BG_OK;
}

/* succeeded; the parameters are a line of "answers" */
HANDLER(answer) {
  (void)plugin;
  char path[4096];
  path_of(info, "fail-once", path, sizeof path);
  if (unlink(path) == 0) return BG_E_FAILED;
  add_line(info, "answers", info->params);
  say(info->run, "answer taken");
  return BG_OK;
}

#define TASK(name, start)                                                                          \
  &(const bg_task) { sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(name), { 0, 0 }, start, 0, 0 }

static const bg_task *const tasks[] = {
  TASK("post", post),       TASK("odd-posts", odd_posts), TASK("withdraw", withdraw),
  TASK("pending", pending), TASK("deliver", deliver),     TASK("notificationAction", answer),
};

static const bg_plugin plugin_table = { sizeof plugin_table, BG_ABI_MAJOR, 0, BG_LIT("test.notify"),
                                        BG_LIT("1.0.0"), BG_LIT("Fixtures"), 0,
                                        sizeof tasks / sizeof *tasks, tasks, 0, 0, 0 };

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin_table;
}
