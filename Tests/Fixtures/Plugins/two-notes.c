/* SPDX-License-Identifier: Apache-2.0
 * Two notes that contradict each other. The host refuses it rather than choose. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.two-notes;runtime=c");
#define bg_note_ another_note
BG_NOTE("abi=1.0;id=test.another;runtime=c");

static const bg_plugin plugin = GOOD_PLUGIN("test.two-notes");
ENTRY(&plugin)
