/* SPDX-License-Identifier: Apache-2.0
 * No plugin: a library that needs-helper.c needs. */
__attribute__((visibility("default"))) int helper_value(void);

int helper_value(void) { return HELPER_VALUE; }
