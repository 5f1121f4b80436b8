/* SPDX-License-Identifier: Apache-2.0
 * The note names another plugin than the table. The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.another;runtime=c");

static const bg_plugin plugin = GOOD_PLUGIN("test.lying-note");
ENTRY(&plugin)
