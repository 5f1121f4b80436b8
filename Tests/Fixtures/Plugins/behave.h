/* SPDX-License-Identifier: Apache-2.0
 * Handlers that do as they should, to compare with. */
#ifndef BEHAVE_H
#define BEHAVE_H

#include "misbehave.h"

/* succeeded */
HANDLER(succeed) {
  UNUSED;
  return BG_OK;
}

/* succeeded, with the parameters as the result */
HANDLER(echo) {
  (void)plugin;
  finish(info->run, BG_OK, TEXT("echo"), info->params);
  return BG_PENDING;
}

/* failed, with the message */
HANDLER(fail) {
  (void)plugin;
  finish(info->run, BG_E_FAILED, TEXT("it went wrong"), NOTHING);
  return BG_PENDING;
}

/* failed, to be tried again not before 1.5 s */
HANDLER(retry) {
  (void)plugin;
  bg_result result = { sizeof result, BG_E_RETRY, BG_LIT("later"), { 0, 0 }, 1500 };
  host->complete(host, info->run, &result);
  return BG_PENDING;
}

/* succeeded, with two steps of progress */
HANDLER(progress) {
  (void)plugin;
  host->progress(host, info->run, 1, 2, TEXT("first"));
  host->progress(host, info->run, 2, 2, TEXT("second"));
  return BG_OK;
}

/* succeeded; two lines on stdout and two on stderr are in the log, tagged with the run's plugin */
HANDLER(stdout_lines) {
  UNUSED;
  printf("out one\nout two\n");
  fflush(stdout);
  fprintf(stderr, "err one\nerr two\n");
  return BG_OK;
}

/* succeeded or failed; logs the values at /text, /number, /object and /absent in params */
HANDLER(params) {
  (void)plugin;
  static const char *const pointers[] = { "/text", "/number", "/object", "/absent" };
  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
    char   value[64], line[128];
    size_t need = 0;
    bg_str pointer = { pointers[i], strlen(pointers[i]) };
    bg_status asked = host->param(host, info->run, pointer, 0, 0, &need);
    bg_status got = host->param(host, info->run, pointer, value, sizeof value, &need);
    int length = got == BG_OK ? (int)need : 0;
    snprintf(line, sizeof line, "%s: %d %d %zu %.*s", pointers[i], asked, got, need, length, value);
    say(info->run, line);
  }
  return BG_OK;
}

/* succeeded if the host takes the request; params: {"task": IDENTIFIER} */
HANDLER(submit) {
  (void)plugin;
  char   task[128];
  size_t need = 0;
  bg_status status =
      host->param(host, info->run, TEXT("/task"), task, sizeof task, &need);
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  if (status == BG_OK && schedule == 0) status = BG_E_ABSENT;
  if (status == BG_OK) {
    bg_str     id = { task, need };
    bg_request request = { sizeof request, 0, id, BG_LIT("{\"by\":\"submit\"}"), 0, 0, 0 };
    status = schedule->submit(host, &request);
  }
  char line[64];
  snprintf(line, sizeof line, "submit answered %d", status);
  say(info->run, line);
  return status == BG_OK ? BG_OK : BG_E_FAILED;
}

/* succeeded; logs how things stand, what the run stands for, and what an invented run is told */
HANDLER(situation) {
  (void)plugin;
  bg_refresh refresh = { sizeof refresh, 0, 0, 0 };
  bg_missed  missed = { sizeof missed, 0, 0, 0 }, short_one = { sizeof missed - 1, 0, 0, 0 };
  const bg_statuses *statuses = host->extension(host, BG_EXT_STATUS);
  if (statuses == 0) return BG_E_FAILED;
  bg_status asked = statuses->refresh(host, &refresh);
  bg_status told = statuses->missed(host, info->run, &missed);
  bg_status invented = statuses->missed(host, info->run + 1024, &missed);
  bg_status refused = statuses->missed(host, info->run, &short_one);
  char line[160];
  snprintf(line, sizeof line, "refresh %d %u %u, missed %d %llu %lld, invented %d, short %d", asked,
           refresh.status, refresh.reasons, told, (unsigned long long)missed.count,
           (long long)missed.from_unix_ms, invented, refused);
  say(info->run, line);
  return BG_OK;
}

/* succeeded; release() is given the state, logs "released 42", and comes last */
static int state_of_42 = 42;

HANDLER(state_and_release) {
  (void)plugin;
  host->set_state(host, info->run, &state_of_42);
  finish(info->run, BG_OK, TEXT("done"), NOTHING);
  return BG_PENDING;
}

static void log_release(void *plugin, bg_run run, void *state) {
  char line[64];
  (void)plugin;
  snprintf(line, sizeof line, "released %d", state ? *(int *)state : 0);
  say(run, line);
}

#endif
