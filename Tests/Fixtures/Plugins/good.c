/* SPDX-License-Identifier: Apache-2.0
 * A plugin with which nothing is wrong. The host loads it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.good;runtime=c");

static const bg_plugin plugin = GOOD_PLUGIN("test.good");
ENTRY(&plugin)
