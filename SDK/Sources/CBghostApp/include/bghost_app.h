/* SPDX-License-Identifier: Apache-2.0
 * The entry of an app with `@main`: for the SDK's module UIKit. */
#ifndef BGHOST_APP_H
#define BGHOST_APP_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `main()` of the type that is marked with `@main`. 0 if the library has no such type, or if it
 * was compiled without `-entry-point-function-name bghost_app_main`. */
int bghost_app_run(void);

#ifdef __cplusplus
}
#endif

#endif
