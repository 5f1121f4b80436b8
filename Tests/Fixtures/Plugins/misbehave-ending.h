/* SPDX-License-Identifier: Apache-2.0
 * Handlers that end their runs in wrong ways. */
#ifndef MISBEHAVE_ENDING_H
#define MISBEHAVE_ENDING_H

#include "misbehave-stopping.h"

/* succeeded; logs "second answered -10" (BG_E_STALE) */
HANDLER(complete_twice) {
  (void)plugin;
  char line[64];
  finish(info->run, BG_OK, TEXT("first"), NOTHING);
  bg_status second = finish(info->run, BG_E_FAILED, TEXT("second"), NOTHING);
  snprintf(line, sizeof line, "second answered %d", second);
  say(info->run, line);
  return BG_PENDING;
}

/* cancelledClean at the first completion; logs that the one after it is answered -10 */
static void complete_cancelled_twice(void *plugin, bg_run run, void *state, uint32_t why) {
  char line[64];
  complete_cancelled(plugin, run, state, why);
  bg_status second = finish(run, BG_OK, TEXT("after all"), NOTHING);
  snprintf(line, sizeof line, "after cancel answered %d", second);
  say(0, line);
}

/* succeeded; a thread of its own completes it again once release() has come, and is answered -10 */
struct late {
  bg_run     run;
  atomic_int released;
};

static void *complete_after_release(void *argument) {
  struct late *late = argument;
  while (!atomic_load(&late->released)) poll(0, 0, 1);
  char line[64];
  snprintf(line, sizeof line, "late answered %d",
           finish(late->run, BG_E_FAILED, TEXT("late"), NOTHING));
  say(0, line);
  free(late);
  return 0;
}

HANDLER(complete_late) {
  (void)plugin;
  struct late *late = calloc(1, sizeof *late);
  pthread_t    thread;
  if (late == 0) return BG_E_FAILED;
  late->run = info->run;
  if (pthread_create(&thread, 0, complete_after_release, late) != 0) {
    free(late);
    return BG_E_FAILED;
  }
  pthread_detach(thread);
  host->set_state(host, info->run, late);
  finish(info->run, BG_OK, TEXT("in time"), NOTHING);
  return BG_PENDING;
}

static void let_go(void *plugin, bg_run run, void *state) {
  (void)plugin;
  (void)run;
  if (state) atomic_store(&((struct late *)state)->released, 1);
}

/* succeeded; 100000 numbers that are no run's are answered -10 each: logs "accepted 0" */
HANDLER(invent_completions) {
  (void)plugin;
  uint64_t number = 0x9e3779b97f4a7c15u;
  int      accepted = 0;
  for (int i = 0; i < 100000; i++) {
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    /* Every other one differs from the real number in one bit: the harder case. */
    bg_run run = i & 1 ? number : info->run ^ ((uint64_t)1 << (number & 63));
    if (run == info->run) continue;
    if (finish(run, BG_OK, TEXT("invented"), NOTHING) != BG_E_STALE) accepted++;
    if (host->cancelled(host, run) != BG_E_STALE) accepted++;
    if (host->set_state(host, run, 0) != BG_E_STALE) accepted++;
  }
  char line[64];
  snprintf(line, sizeof line, "accepted %d", accepted);
  say(info->run, line);
  return BG_OK;
}

/* failed, with a fault of the plugin: a positive status that means nothing */
HANDLER(unknown_status) {
  UNUSED;
  return 7;
}

/* failed: an unknown negative status counts as BG_E_FAILED */
HANDLER(own_status) {
  UNUSED;
  return -1234;
}

/* succeeded; logs "oversized answered -14" (BG_E_LIMIT) and completes with less */
HANDLER(oversized_result) {
  (void)plugin;
  size_t size = (size_t)info->max_result + 1;
  char  *payload = malloc(size);
  if (payload == 0) return BG_E_FAILED;
  memset(payload, ' ', size);
  payload[0] = '1';
  char line[64];
  snprintf(line, sizeof line, "oversized answered %d",
           finish(info->run, BG_OK, TEXT(""), (bg_str){ payload, size }));
  say(info->run, line);
  free(payload);
  finish(info->run, BG_OK, TEXT("small"), TEXT("1"));
  return BG_PENDING;
}

/* succeeded; logs "bad json answered -12" (BG_E_ARG) and completes with good JSON */
HANDLER(bad_json_result) {
  (void)plugin;
  char line[64];
  snprintf(line, sizeof line, "bad json answered %d",
           finish(info->run, BG_OK, TEXT(""), TEXT("{\"open\":")));
  say(info->run, line);
  finish(info->run, BG_OK, TEXT("good"), TEXT("{}"));
  return BG_PENDING;
}

/* failed, and the message is well-formed, one line and escaped wherever it is shown */
HANDLER(bad_utf8_message) {
  (void)plugin;
  bg_status status =
      finish(info->run, BG_E_FAILED, TEXT("caf\xe9\x1b[31m\nred"), NOTHING);
  char line[64];
  snprintf(line, sizeof line, "bad message answered %d", status);
  say(info->run, line);
  return BG_E_FAILED;
}

/* succeeded; a null, a short and an unreadable result are answered -12 (BG_E_ARG): it logs
 * "refused 3" */
HANDLER(bad_result_pointer) {
  (void)plugin;
  bg_result empty = { 0, BG_OK, { 0, 0 }, { 0, 0 }, 0 };
  bg_result wild = { sizeof wild, BG_OK, { 0, 5 }, { 0, 0 }, 0 };
  int refused = 0;
  refused += host->complete(host, info->run, 0) == BG_E_ARG;
  refused += host->complete(host, info->run, &empty) == BG_E_ARG;
  refused += host->complete(host, info->run, &wild) == BG_E_ARG;
  char line[64];
  snprintf(line, sizeof line, "refused %d", refused);
  say(info->run, line);
  return BG_OK;
}

#endif
