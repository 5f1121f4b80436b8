/* SPDX-License-Identifier: Apache-2.0
 * A good table but no note. The host refuses it before loading and says how to add one. */
#include "table.h"

static const bg_plugin plugin = GOOD_PLUGIN("test.no-note");
ENTRY(&plugin)
