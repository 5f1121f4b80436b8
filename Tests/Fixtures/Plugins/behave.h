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

/* cancelledClean; its progress can be seen until it is told to stop */
HANDLER(report_and_wait) {
  (void)plugin;
  host->progress(host, info->run, 1, 2, TEXT("half"));
  return BG_PENDING;
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

/* A number of params, or 0. */
static long long number_of(const bg_run_info *info, const char *pointer) {
  char   text[32];
  size_t need = 0;
  if (host->param(host, info->run, (bg_str){ pointer, strlen(pointer) }, text, sizeof text - 1, &need))
    return 0;
  text[need] = 0;
  return atoll(text);
}

/* succeeded if the host takes the request; params: {"task": IDENTIFIER, and perhaps "kind", "needs" and
 * "earliest", as numbers} */
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
    bg_request request = { sizeof request, (uint32_t)number_of(info, "/kind"), id,
                           BG_LIT("{\"by\":\"submit\"}"), number_of(info, "/earliest"),
                           (uint32_t)number_of(info, "/needs"), 0 };
    status = schedule->submit(host, &request);
  }
  char line[64];
  snprintf(line, sizeof line, "submit answered %d", status);
  say(info->run, line);
  return status == BG_OK ? BG_OK : BG_E_FAILED;
}

/* succeeded; submits {"count"} requests for identifiers that begin with {"prefix"}, not to begin before
 * 2100, and logs how many the host takes and what it answers to the last */
HANDLER(submit_many) {
  (void)plugin;
  char   prefix[64], task[128], line[64];
  size_t need = 0;
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  if (schedule == 0 || host->param(host, info->run, TEXT("/prefix"), prefix, sizeof prefix, &need) != BG_OK)
    return BG_E_FAILED;
  long long count = number_of(info, "/count"), taken = 0;
  bg_status status = BG_OK;
  for (long long i = 0; i < count; i++) {
    int length = snprintf(task, sizeof task, "%.*s%05lld", (int)need, prefix, i);
    bg_request request = { sizeof request, 0, { task, (size_t)length }, { 0, 0 }, 4102444800000, 0, 0 };
    status = schedule->submit(host, &request);
    if (status == BG_OK) taken++;
  }
  snprintf(line, sizeof line, "took %lld, answered %d", taken, status);
  say(info->run, line);
  return BG_OK;
}

/* succeeded; logs what pending() answers, with the struct of today and with that of ABI 1.0, how many
 * entries differ from one another, and of the first what it needs and its kind */
HANDLER(list_pending) {
  (void)plugin;
  enum { capacity = 1024, old = 152 };
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  bg_pending *all = calloc(capacity, sizeof *all);
  char       *short_ones = calloc(capacity, old), line[160];
  if (schedule == 0 || all == 0 || short_ones == 0) return BG_E_FAILED;
  size_t total = 0, short_total = 0, distinct = 0;
  all[0].size = sizeof *all;
  ((bg_pending *)short_ones)->size = old;
  bg_status status = schedule->pending(host, all, capacity, &total);
  bg_status again = schedule->pending(host, (bg_pending *)short_ones, capacity, &short_total);
  for (size_t i = 0; i < total && i < capacity; i++) {
    size_t same = 0;
    for (size_t j = 0; j < i; j++) same += strcmp(all[i].task_id, all[j].task_id) == 0;
    distinct += same == 0 && strcmp(all[i].task_id, ((bg_pending *)(short_ones + i * old))->task_id) == 0;
  }
  snprintf(line, sizeof line, "listed %d %zu, %d %zu, %zu distinct, first %s needs %u kind %u", status, total,
           again, short_total, distinct, all[0].task_id, all[0].needs, all[0].kind);
  say(info->run, line);
  free(all);
  free(short_ones);
  return BG_OK;
}

/* failed, and says that it would fail again */
HANDLER(fail_finally) {
  (void)plugin;
  finish(info->run, BG_E_FINAL, TEXT("the account is gone"), NOTHING);
  return BG_PENDING;
}

/* succeeded; logs the refresh status, the missed starts of the run, and the answer for an invented run */
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
