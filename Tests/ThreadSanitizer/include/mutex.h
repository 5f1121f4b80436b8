/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing: see mutex.c. */
