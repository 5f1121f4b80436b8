/* SPDX-License-Identifier: Apache-2.0
 * The note says abi=2.0. The host refuses it before loading. */
#include "table.h"

BG_NOTE("abi=2.0;id=test.note-abi-2;runtime=c");

static const bg_plugin plugin = GOOD_PLUGIN("test.note-abi-2");
ENTRY(&plugin)
