/* SPDX-License-Identifier: Apache-2.0
 * The entry function returns 0: the plugin says that it cannot run here. The host says so. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.null-descriptor;runtime=c");

ENTRY(0)
