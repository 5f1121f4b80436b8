/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_commands.h"

/* `ParsableArguments._validate(parent:)` of swift-argument-parser. Package.swift has the name too. */
#define VALIDATE "$s14ArgumentParser17ParsableArgumentsPAAE9_validate6parentyAA8InputKeyVSg_tKFZ"

static int trusted;

void bgs_trust_commands(void) { trusted = 1; }

/* The parser's function has fewer parameters; the other registers are passed on and not read. What
 * Swift passes in addition, `self` and the error, is in registers that C preserves. */
typedef void validation(const void *, const void *, const void *, const void *, const void *,
                        const void *);

validation bgs_parser_validate __asm__("__real_" VALIDATE) __attribute__((weak));

/* volatile, since the machine cannot jump to an undefined symbol, which it is in other programs. */
static validation *volatile parser_validate = bgs_parser_validate;

/* The linker makes the parser call this function where Package.swift says so. */
validation bgs_validate_commands __asm__("__wrap_" VALIDATE);

void bgs_validate_commands(const void *a, const void *b, const void *c, const void *d,
                           const void *e, const void *f) {
  if (trusted) return;
  __attribute__((musttail)) return parser_validate(a, b, c, d, e, f);
}
