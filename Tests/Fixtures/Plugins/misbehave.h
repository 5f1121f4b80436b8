/* SPDX-License-Identifier: Apache-2.0
 * What the handlers of misbehave.c share. */
#ifndef MISBEHAVE_H
#define MISBEHAVE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bghost.h"

#define TEXT(literal) ((bg_str)BG_LIT(literal))
#define HANDLER(function) static bg_status function(void *plugin, const bg_run_info *info)
#define NOTHING ((bg_str){ 0, 0 })
#define UNUSED (void)plugin, (void)info

static const bg_host *host;

__attribute__((unused)) static void say(bg_run run, const char *text) {
  host->log(host, run, 2, (bg_str){ text, strlen(text) });
}

__attribute__((unused)) static bg_status finish(bg_run run, bg_status status, bg_str message,
                                                bg_str payload) {
  bg_result result = { sizeof result, status, message, payload, 0 };
  return host->complete(host, run, &result);
}

__attribute__((unused)) static int is_cancelled(bg_run run) { return host->cancelled(host, run) != BG_OK; }

#endif
