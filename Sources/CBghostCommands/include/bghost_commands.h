/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of the program's own command line (docs/adr/0628-command-checks-in-tests.md).
 */
#ifndef BGHOST_COMMANDS_H
#define BGHOST_COMMANDS_H

/* Makes the parser skip the checks that it makes of the declarations of commands in debug builds.
 *
 * Call it before the first command line is parsed. Without effect in release builds, where the
 * parser makes no such checks. */
void bgs_trust_commands(void);

#endif
