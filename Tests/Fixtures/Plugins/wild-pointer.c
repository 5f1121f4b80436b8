/* SPDX-License-Identifier: Apache-2.0
 * The table is at ADDRESS, where nothing is mapped. The host refuses it and does not fault. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.wild-pointer;runtime=c");

#ifndef ADDRESS
/* Not of the shadow memory of any sanitizer. */
#define ADDRESS 0x6a3456789000
#endif

ENTRY((const bg_plugin *)ADDRESS)
