/* SPDX-License-Identifier: Apache-2.0
 * The schema of its parameters is no JSON. */
#include "author.h"

PLUGIN(BG_TASK_MAY_BLOCK, BG_LIT("{\"type\": object}"), succeed, 0, 0, 0, 0, 0);
ENTRY
