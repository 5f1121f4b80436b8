/* SPDX-License-Identifier: Apache-2.0
 * A constructor changes the umask; with HANDLES, it handles that signal instead, by a function of its
 * own, or by the one of the C library that HANDLER names. */
#include "author.h"

#ifdef HANDLES
#ifndef HANDLER
#define HANDLER take
MAYBE_UNUSED static void take(int number) { (void)number; }
#endif
__attribute__((constructor)) static void begin(void) { signal(HANDLES, (void (*)(int))(void *)HANDLER); }
#else
__attribute__((constructor)) static void begin(void) { umask(0); }
#endif
RUNS(BG_TASK_MAY_BLOCK, succeed)
