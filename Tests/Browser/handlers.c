/* SPDX-License-Identifier: Apache-2.0
 * Handlers for the tests of the dashboard: each ends in one of the ways that it shows. */
#include <bghost.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BG_NOTE("abi=1.0;id=test.browser;runtime=c;params=checked");

static const bg_host *host;

/* Reads the text of params at `pointer`, "" if it is absent or too long. */
static bg_str text_of(const bg_run_info *info, const char *pointer, char *buffer, size_t capacity) {
  size_t length = 0;
  bg_str path = { pointer, strlen(pointer) };
  if (host->param(host, info->run, path, buffer, capacity, &length) != BG_OK) length = 0;
  return (bg_str){ buffer, length };
}

static bg_status finish(const bg_run_info *info, bg_status status, bg_str message, bg_str payload) {
  bg_result result = { sizeof result, status, message, payload, 0 };
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

/* Succeeds with its parameters as the result, and with `message` of them as the message. */
static bg_status echo(void *plugin, const bg_run_info *info) {
  (void)plugin;
  char message[4096];
  return finish(info, BG_OK, text_of(info, "/message", message, sizeof message), info->params);
}

/* Prints and logs `line` of its parameters, then fails with it as the message. */
static bg_status fail(void *plugin, const bg_run_info *info) {
  (void)plugin;
  char   buffer[4096];
  bg_str line = text_of(info, "/line", buffer, sizeof buffer);
  if (line.len == 0) line = (bg_str)BG_LIT("connection refused by mail.example.org:25");
  printf("%.*s\n", (int)line.len, line.ptr);
  fflush(stdout);
  host->log(host, info->run, 4, line);
  return finish(info, BG_E_FAILED, line, (bg_str){ 0, 0 });
}

/* Reports 62 of 100, and runs until it is cancelled. */
static bg_status hold(void *plugin, const bg_run_info *info) {
  (void)plugin;
  struct pollfd stop = { info->cancel_fd, POLLIN, 0 };
  printf("uploading 3 of 5 files\n");
  fflush(stdout);
  host->progress(host, info->run, 62, 100, (bg_str)BG_LIT("uploading"));
  poll(&stop, 1, -1);
  return BG_E_CANCELLED;
}

/* Runs until it is killed. */
static bg_status ignore(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  for (;;) poll(0, 0, -1);
  return BG_E_FAILED;
}

/* Crashes by an access to memory that is not there. */
static bg_status crash(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  fprintf(stderr, "assertion failed: index < count\n");
  fflush(stderr);
  *(volatile int *)16 = 1;
  return BG_OK;
}

#define TASK(name, start)                                                                          \
  &(const bg_task) {                                                                               \
    sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(name), { 0, 0 }, start, 0, 0                        \
  }

/* Declares the schema of its parameters. */
static const bg_task measure = {
  sizeof measure, BG_TASK_MAY_BLOCK, BG_LIT("measure"),
  BG_LIT("{\"type\":\"object\",\"required\":[\"city\"],\"properties\":{"
         "\"city\":{\"type\":\"string\",\"minLength\":1,\"description\":\"where to measure\"},"
         "\"days\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":16},"
         "\"unit\":{\"enum\":[\"metric\",\"imperial\"]}}}"),
  echo, 0, 0,
};

static const bg_task *const tasks[] = {
  TASK("echo", echo), TASK("fail", fail), TASK("hold", hold), TASK("ignore", ignore), TASK("crash", crash), &measure,
};

static const bg_plugin table = {
  sizeof table, BG_ABI_MAJOR, 0, BG_LIT("test.browser"), BG_LIT("1.4.2"), BG_LIT("Tests"), 0,
  sizeof tasks / sizeof *tasks, tasks, 0, 0, 0,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &table;
}
