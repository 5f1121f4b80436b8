/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells ThreadSanitizer when Swift's Mutex is taken and given back.
 *
 * A free mutex is taken by an atomic instruction in the code of its user, which is instrumented. For one
 * that is held, that code calls libswiftSynchronization, which is not: there the kernel hands the mutex
 * over, and ThreadSanitizer takes whatever it protects for shared without protection. The linker binds
 * those calls to the functions here, which pass them on. */
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>
#include <stdlib.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*lock_fn)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*unlock_fn)(__attribute__((swift_context)) void *);

/* Swift's own function of this name. */
static void *next(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == 0) abort();
  return function;
}

__attribute__((swiftcall)) void lock_slow(uint32_t state,
                                          __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void lock_slow(uint32_t state,
                                          __attribute__((swift_context)) void *mutex) {
  ((lock_fn)next(LOCK))(state, mutex);
  __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex)
    __asm__(UNLOCK);
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) {
  __tsan_release(mutex);
  ((unlock_fn)next(UNLOCK))(mutex);
}
