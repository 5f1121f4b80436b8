/* SPDX-License-Identifier: Apache-2.0
 * Handlers that are cancelled, and stop or do not. */
#ifndef MISBEHAVE_STOPPING_H
#define MISBEHAVE_STOPPING_H

#include "misbehave.h"

/* cancelledClean: cancel() completes */
HANDLER(honour_cancel) {
  UNUSED;
  return BG_PENDING;
}

static void complete_cancelled(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin;
  (void)state;
  char line[32];
  snprintf(line, sizeof line, "why %u", why);
  finish(run, BG_E_CANCELLED, (bg_str){ line, strlen(line) }, NOTHING);
}

/* cancelledClean: start() asks the host over and over */
HANDLER(honour_cancel_poll) {
  (void)plugin;
  while (!is_cancelled(info->run)) poll(0, 0, 1);
  return BG_E_CANCELLED;
}

/* cancelledClean: start() waits for the descriptor */
HANDLER(honour_cancel_fd) {
  (void)plugin;
  struct pollfd wait = { info->cancel_fd, POLLIN, 0 };
  while (poll(&wait, 1, -1) < 0 && errno == EINTR) continue;
  return BG_E_CANCELLED;
}

/* succeeded, {"late"} milliseconds after it is cancelled */
HANDLER(stop_late) {
  (void)plugin;
  char   text[32];
  size_t need = 0;
  while (!is_cancelled(info->run)) poll(0, 0, 1);
  if (host->param(host, info->run, TEXT("/late"), text, sizeof text - 1, &need) != BG_OK) return BG_E_FAILED;
  text[need] = 0;
  usleep((unsigned)atoi(text) * 1000);
  return BG_OK;
}

/* killed(graceExceeded): it ignores cancel() */
HANDLER(ignore_cancel) {
  (void)plugin;
  say(info->run, "pending");
  return BG_PENDING;
}

static void log_cancel(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin;
  (void)state;
  char line[32];
  snprintf(line, sizeof line, "ignored why %u", why);
  say(run, line);
}

/* killed(graceExceeded): it has no cancel() */
HANDLER(never_complete) {
  UNUSED;
  return BG_PENDING;
}

/* killed(graceExceeded): cancel() does not return */
static void block_in_cancel(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin, (void)run, (void)state, (void)why;
  for (;;) pause();
}

/* cancelledClean: cancel() asks the host something that only the host can answer, and completes */
static void ask_in_cancel(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin, (void)state, (void)why;
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  bg_request request = { sizeof request, 0, BG_LIT("succeed"), { 0, 0 }, 0, 0, 0 };
  bg_status  status = schedule ? schedule->submit(host, &request) : BG_E_ABSENT;
  char       line[64];
  snprintf(line, sizeof line, "submit answered %d", status);
  finish(run, BG_E_CANCELLED, (bg_str){ line, strlen(line) }, NOTHING);
}

/* killed(graceExceeded): busy in start(), although it must return at once */
HANDLER(spin) {
  UNUSED;
  for (volatile unsigned long n = 0;; n++) continue;
  return BG_OK;
}

/* killed(cpu) or, without a limit of processor time, killed(graceExceeded) */
HANDLER(cpu_burn) {
  UNUSED;
  for (volatile unsigned long n = 0;; n++) continue;
  return BG_OK;
}

/* killed(graceExceeded): asleep in start() */
HANDLER(sleep_forever) {
  UNUSED;
  for (;;) pause();
  return BG_OK;
}

/* killed(graceExceeded), with the line that it has begun */
HANDLER(print_and_stay) {
  UNUSED;
  printf("no line break");
  for (;;) pause();
  return BG_OK;
}

#endif
