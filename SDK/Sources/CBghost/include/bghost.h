/* SPDX-License-Identifier: Apache-2.0
 *
 * bghost.h: the C ABI between bghost (the host) and a plugin. Major 1, minor 0.
 *
 * A plugin is one shared object that exports one function, bghost_plugin_v1(). The function returns a
 * static table of handlers. The operator's manifest, tasks.json, names the handler of each task. The
 * host loads a plugin into a worker process of its own or, if the manifest says so, into the daemon.
 *
 * Terms
 *   task     what the manifest permits to run: an identifier with a handler and limits
 *   request  a stored submission of a task; the host starts a run for it
 *   run      one call of a handler's start() and all that follows from it, up to release()
 *   wake     a run that receives the results of ended transfers
 *
 * Platform: LP64, little-endian Linux; GCC or Clang; C99 with <stddef.h> and <stdint.h>, also valid
 * C++17.
 *
 * Rules of the boundary
 *   R1 Text is (pointer, length) UTF-8. {0, 0} is "". A terminating NUL is not needed and has no
 *      meaning, except where a comment asks for one.
 *   R2 Neither side frees memory of the other side. A host function copies its arguments before it
 *      returns. A pointer that the host passes to the plugin is valid until that call returns, unless
 *      its comment states a longer lifetime.
 *   R3 A host function never calls the plugin back on the caller's stack and never waits for a lock of
 *      the plugin: the plugin may hold locks when it calls. It must not call host functions in a signal
 *      handler or in a child of fork(). A function with the tag [waits] waits for the daemon's answer:
 *      a few milliseconds as a rule, 5 seconds at most.
 *   R4 Runs and fetches are numbers. For an old or invented number the host returns BG_E_STALE; it
 *      never crashes.
 *   R5 The host never frees or changes bg_host and its extension tables. The plugin may use them from
 *      the entry function on. After close() has returned, every function in them that returns a
 *      bg_status returns BG_E_CLOSED.
 *   R6 No exception, panic, longjmp or thread exit may cross this boundary in either direction.
 *   R7 Each struct except bg_str begins with its size: sizeof, as compiled by the side that fills the
 *      struct. A reader uses only the fields within min(size, its own sizeof). It refuses a struct that
 *      lacks fields of minor 0. Later minors only append fields. Within a major, no field moves,
 *      changes its type, gets a second use or a stricter meaning.
 *   R8 A reader refuses unknown flag bits 0 to 15 and ignores unknown bits 16 to 31. A plugin treats an
 *      unknown BG_WHY_* as a request to stop. Either side treats an unknown negative status as
 *      BG_E_FAILED. The host treats an unknown positive status as a fault of the plugin. Set fields
 *      named reserved to 0.
 *
 * Threads, in brackets at each function
 *   [any]   The plugin may call it from any thread, also one that it made, at any time, concurrently.
 *   [host]  The host calls it on any of its threads: do not rely on thread-local state. The host may
 *           call it for different runs at the same time, start() included. Calls for one run overlap
 *           only where the comment says so.
 */
#ifndef BGHOST_H
#define BGHOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define BG_NOEXCEPT noexcept
#else
#define BG_NOEXCEPT
#endif

#define BG_ABI_MAJOR 1
#define BG_ABI_MINOR 0

#define BG_EXPORT __attribute__((visibility("default"), used))

/* See R1. */
typedef struct bg_str {
  const char *ptr;
  size_t      len;
} bg_str;

/* Initializes a bg_str from a string literal. */
#define BG_LIT(text) { (text), sizeof(text) - 1 }

/* The number of a run, one invocation of a handler. 0 is never a run. The host does not reuse a
 * number while it is up. */
typedef uint64_t bg_run;

/* ---- status --------------------------------------------------------------------------------- */

typedef int32_t bg_status; /* a plugin may use -1000 and below for its own failures                   */

#define BG_PENDING      1    /* from start(): the run continues; call complete() exactly once         */
#define BG_OK           0
#define BG_E_FAILED     (-1) /* failed; `retry` of the task in tasks.json decides about a retry       */
#define BG_E_RETRY      (-2) /* like BG_E_FAILED; retry_after_ms may set the delay                    */
#define BG_E_CANCELLED  (-3) /* the run stopped because the host cancelled it                         */
#define BG_E_FINAL      (-4) /* failed, and a retry would fail too: the host does not retry           */
#define BG_E_STALE      (-10) /* unknown number, or the run is already complete                       */
#define BG_E_CLOSED     (-11) /* close() of the plugin has returned                                   */
#define BG_E_ARG        (-12) /* bad pointer, length, UTF-8, JSON or struct size                      */
#define BG_E_PERM       (-13) /* tasks.json does not permit it                                        */
#define BG_E_LIMIT      (-14) /* too many, too large or too frequent                                  */
#define BG_E_SMALL      (-15) /* the buffer is too small; *need is the length needed                  */
#define BG_E_ABSENT     (-16) /* no such key, extension, request or transfer                          */
#define BG_E_KIND       (-17) /* the kind of the request is not that of its task                      */
#define BG_E_NOT_NOW    (-18) /* BG_SUBMIT_NOW: the run cannot start at once                          */

/* Why the host cancels a run. */
#define BG_WHY_EXPIRED   1u /* the run reached its runtime limit                                      */
#define BG_WHY_USER      2u /* an operator stopped the run                                            */
#define BG_WHY_DRAIN     3u /* the plugin is closing or the daemon is stopping                        */
#define BG_WHY_CONDITION 4u /* a requirement of the task (power, network) is no longer met            */
#define BG_WHY_QUOTA     5u /* over a limit of memory, CPU or processes; a kill is imminent           */

/* ---- input and result of a run --------------------------------------------------------------- */

/* How a run ended. payload is JSON or "", at most bg_run_info.max_result bytes; complete() returns
 * BG_E_LIMIT for a longer one. */
typedef struct bg_result {
  uint32_t  size;
  bg_status status;         /* 0 or below                                                             */
  bg_str    message;        /* one line for people, or ""; the host truncates it to 8 KiB             */
  bg_str    payload;
  int64_t   retry_after_ms; /* with BG_E_RETRY: the minimum delay; 0: as `retry` in tasks.json says   */
} bg_result;

typedef struct bg_task bg_task;

/* The input of a run. The host owns it and all memory that it points to. This memory is valid until
 * release() of the run has returned. Without a release(), it is valid until the run is complete and
 * neither start() nor cancel() is executing: copy what a thread of the plugin needs after that. */
typedef struct bg_run_info {
  uint32_t size;
  uint32_t attempt;          /* counts from 1                                                         */
  bg_run   run;
  bg_str   task_id;          /* the task's identifier in tasks.json                                   */
  bg_str   params;           /* a JSON object; "{}" if there are no parameters                        */
  bg_str   data_dir;         /* absolute path of this plugin's writable data directory; it persists   */
  int64_t  deadline_mono_ns; /* CLOCK_MONOTONIC time at which the host calls cancel(BG_WHY_EXPIRED)   */
  uint32_t grace_ms;         /* the host kills this long after it cancels, for any reason             */
  uint32_t max_result;       /* bytes                                                                 */
  int32_t  cancel_fd;        /* becomes readable once the host cancels the run. Poll it; never read,  */
                             /* write or close it. -1: none is available; call cancelled() instead    */
  uint32_t flags;            /* BG_RUN_*                                                              */
  const bg_task *task;       /* the handler of this run: the same pointer as in the plugin's own      */
                             /* table, so that one start() can serve several handlers                 */
} bg_run_info;

#define BG_RUN_WORKER 0x10000u /* set: in a worker process; clear: inside the daemon                  */

/* ---- functions of the host -------------------------------------------------------------------- */

typedef struct bg_host bg_host;
struct bg_host {
  uint32_t size;
  uint16_t abi_major, abi_minor;
  void    *ctx;           /* of the host; do not use                                                  */
  bg_str   name, version; /* of the host, for log messages                                            */

  /* [any] Ends a run. The first valid call decides the outcome and returns BG_OK; each later call
   * returns BG_E_STALE and changes nothing. After BG_E_ARG (bad result) or BG_E_LIMIT (payload too
   * long) the run is still open: correct the result and call again. May be called inside start() and
   * cancel(). */
  bg_status (*complete)(const bg_host *, bg_run, const bg_result *) BG_NOEXCEPT;

  /* [any] Whether the run should stop. BG_OK: continue. Above 0: stop, for this BG_WHY_*. Below 0:
   * stop; the run is over. Fast enough for inner loops. */
  bg_status (*cancelled)(const bg_host *, bg_run) BG_NOEXCEPT;

  /* [any] Sets the state that the host passes to cancel() and release() of this run; it is 0 until
   * then. The plugin owns the memory. */
  bg_status (*set_state)(const bg_host *, bg_run, void *state) BG_NOEXCEPT;

  /* [any] Reports progress: `done` of `total` units; total 0 means unknown. The host drops calls
   * beyond the rate limit and returns BG_OK. */
  bg_status (*progress)(const bg_host *, bg_run, uint64_t done, uint64_t total, bg_str phase)
      BG_NOEXCEPT;

  /* [any] Writes to the host's log. level: 0 trace, 1 debug, 2 info, 3 warning, 4 error, 5 fault.
   * run may be 0 outside of runs. The host does not interpret format directives, replaces invalid
   * UTF-8 and truncates the text to 8 KiB. It counts and drops messages beyond the rate limit and
   * returns BG_OK. A run may log until its release() has returned. */
  bg_status (*log)(const bg_host *, bg_run, uint32_t level, bg_str message) BG_NOEXCEPT;

  /* [any] Copies the value at an RFC 6901 (JSON Pointer) path of params into `buffer`, as text
   * without a terminating NUL: a string without its quotes and escapes, every other value as JSON.
   * Sets *need to the length in bytes, also with BG_E_SMALL; need may be 0. With capacity 0 it only
   * reports the length. BG_E_ABSENT: no such value. */
  bg_status (*param)(const bg_host *, bg_run, bg_str pointer, char *buffer, size_t capacity,
                     size_t *need) BG_NOEXCEPT;

  /* [any] Returns an extension table by its name (ending with a NUL), or 0 if this host does not
   * have it. The table lives as long as bg_host. */
  const void *(*extension)(const bg_host *, const char *name) BG_NOEXCEPT;

  /* Minor 1 appends here. */
};

/* ---- what a plugin exports -------------------------------------------------------------------- */

/* One handler. The plugin owns this memory and must not change or free it after the entry function
 * has returned. */
struct bg_task {
  uint32_t size;
  uint32_t flags;         /* BG_TASK_*                                                                */
  bg_str   handler;       /* its name in tasks.json: 1 to 128 characters of [A-Za-z0-9._-]            */
  bg_str   params_schema; /* a JSON Schema of params, at most 64 KiB, or "". With params=checked in   */
                          /* the note, the host refuses requests whose params do not fit it; without, */
                          /* it is for documentation. start() must validate params in any case: those */
                          /* of a request that was stored under an earlier version do not fit, nor do */
                          /* those from a time at which the host could not load the plugin            */

  /* [host] Starts a run; the host calls it once per run. Runs overlap unless BG_TASK_SERIAL is set.
   * Must return within 250 ms unless BG_TASK_MAY_BLOCK is set: until it returns, it can delay other
   * runs and cancel() calls of this plugin. Returns BG_PENDING, or a final status, which completes
   * the run. If complete() was accepted before start() returns, that call decided and the host
   * ignores the return value. */
  bg_status (*start)(void *plugin, const bg_run_info *) BG_NOEXCEPT;

  /* [host] May be 0. Asks the run to stop. The host calls it at most once per run; it must return
   * within 100 ms; the run may still end with BG_OK. The host calls it after start() has returned.
   * With BG_TASK_MAY_BLOCK it may overlap start() or come just before it: call cancelled() after
   * set_state(). The host does not start this call after it accepted complete(), but the call may be
   * executing then. Therefore free the state of the run in release(), not after complete(). */
  void (*cancel)(void *plugin, bg_run, void *state, uint32_t why) BG_NOEXCEPT;

  /* [host] May be 0; leave it 0 if there is no state to free, which is faster. The last call for
   * each run whose start() was called: start() and cancel() have returned and the run is complete.
   * Free the state of the run here. */
  void (*release)(void *plugin, bg_run, void *state) BG_NOEXCEPT;
};

#define BG_TASK_MAY_BLOCK    1u /* start() may block for as long as the run lasts                     */
#define BG_TASK_SERIAL       2u /* never two runs of this handler at once, in all processes together  */
#define BG_TASK_NEEDS_WORKER 4u /* the host must not run it inside the daemon                         */

/* The plugin. The plugin owns this memory and must not change or free it after the entry function
 * has returned. The texts must not contain control characters. */
typedef struct bg_plugin {
  uint32_t size;
  uint16_t abi_major;      /* BG_ABI_MAJOR                                                            */
  uint16_t min_host_minor; /* the oldest host minor that this plugin works with                       */
  bg_str   id;             /* reverse DNS, e.g. org.example.weather; at most 128 bytes                */
  bg_str   version, vendor; /* at most 64 bytes (version) and 256 bytes (vendor)                      */
  uint32_t flags;          /* none is defined: 0                                                      */
  uint32_t n_tasks;        /* 1 to 256; their names must differ                                       */
  const bg_task *const *tasks; /* an array of pointers, so that bg_task can grow                      */

  /* [host] The host never calls two of these three at the same time. Each may be 0.
   * open:  prepares the plugin; must be fast. config is a JSON object from tasks.json. The plugin may
   *        set *plugin, which is 0 before; the host passes it to every later call. If open() returns
   *        anything but BG_OK, the host does not use the plugin and does not call close(). After
   *        close() the host may call the entry function and open() again, with the same bg_host or
   *        another: keep nothing in globals except the latest bg_host. */
  bg_status (*open)(const bg_host *, bg_str config, void **plugin) BG_NOEXCEPT;
  /* drain: prepares for close(). Start no new work. The host has cancelled every live run; runs may
   *        still be executing. A process that is killed gets neither drain() nor close(). */
  void (*drain)(void *plugin) BG_NOEXCEPT;
  /* close: all runs are complete. Join your threads, close your descriptors, restore your signal
   *        handlers. The image stays mapped until the process ends. */
  void (*close)(void *plugin) BG_NOEXCEPT;
} bg_plugin;

/* The one exported symbol. It returns the plugin's table, the same pointer each time, or 0 if the
 * plugin cannot run on this machine; a host newer than the plugin is no reason to return 0. It must
 * start no thread and use no file, network, environment or signal. It may store `host` and log. The
 * host owns `host` (R5). */
#define BG_ENTRY_NAME "bghost_plugin_v1"
BG_EXPORT const bg_plugin *bghost_plugin_v1(const bg_host *host) BG_NOEXCEPT;

/* Metadata of the plugin, which the host reads before it runs any code of the plugin: an ELF note in
 * section .note.bghost, owner "bghost", type 1, text "key=value;...". Keys: abi=MAJOR.MINOR
 * (required), id=... (optional; must equal bg_plugin.id), runtime=c|c++|swift|rust|... (optional),
 * params=checked (optional; the host then checks params against bg_task.params_schema).
 * Write the macro in one source file of the plugin, outside any function. */
#define BG_NOTE(text)                                                                              \
  __attribute__((section(".note.bghost"), used, aligned(4))) static const struct {                 \
    uint32_t namesz, descsz, type;                                                                 \
    char     name[8];                                                                              \
    char     desc[(sizeof(text) + 3u) & ~3u];                                                      \
  } bg_note_ = {7, (sizeof(text) + 3u) & ~3u, 1, "bghost", text}

/* ---- extensions: versioned by name; each table begins with its size ---------------------------- */

/* Requests: submits requests for tasks that tasks.json grants to this plugin. */
#define BG_EXT_SCHEDULE "bghost.schedule/1"

#define BG_KIND_REFRESH    1u
#define BG_KIND_PROCESSING 2u
#define BG_NEEDS_NETWORK   1u
#define BG_NEEDS_POWER     2u
#define BG_NEEDS_UNMETERED 4u
/* What becomes of the pending request of the task; without one of the three it is replaced. A host that
 * does not know these bits answers BG_E_ARG. */
#define BG_SUBMIT_KEEP   0x100u /* it stays, and the new one is dropped                               */
#define BG_SUBMIT_UPDATE 0x200u /* the new one replaces it and keeps its dates                        */
#define BG_SUBMIT_APPEND 0x300u /* both stay: the new one begins after it, and after runs and retries */
#define BG_SUBMIT_NOW    0x400u /* start at once or answer BG_E_NOT_NOW; what is pending stays        */

typedef struct bg_request {
  uint32_t size;
  uint32_t kind;              /* BG_KIND_*; 0: the task's kind. BG_E_KIND if it is another kind       */
  bg_str   task_id;           /* a task granted to this plugin; replaces its pending request          */
  bg_str   params;            /* a JSON object or ""                                                  */
  int64_t  earliest_unix_ms;  /* the earliest start, Unix time in ms; 0: as soon as possible          */
  uint32_t needs, reserved;   /* BG_NEEDS_*: requirements besides those of the task; and BG_SUBMIT_*  */
} bg_request;

typedef struct bg_pending {
  uint32_t size;
  uint32_t kind;
  int64_t  earliest_unix_ms;
  char     task_id[136];      /* ends with a NUL                                                      */
  /* Appended: present only if size is above 152. */
  uint32_t needs, reserved;   /* BG_NEEDS_*, as submitted                                             */
} bg_pending;

typedef struct bg_schedule {
  uint32_t size, reserved;
  /* [any] [waits] Submits a request; the host copies it. BG_OK: the request is stored and survives a
   * restart or power cut. BG_E_PERM: tasks.json does not grant the task to this plugin. BG_E_KIND:
   * the task has another kind. BG_E_ARG: invalid params, or params that do not fit the schema of the
   * task's handler; the host's log says where. BG_E_LIMIT: too many pending requests, or
   * params too long. BG_E_NOT_NOW: see BG_SUBMIT_NOW; the host's log says what it would wait for.
   * BG_E_FAILED: the host cannot accept it now, e.g. because its store fails. */
  bg_status (*submit)(const bg_host *, const bg_request *) BG_NOEXCEPT;
  /* [any] [waits] Withdraws the pending request of a task; a run under way continues. BG_E_ABSENT if
   * no request is pending. An answer that a person has given to a notification, and the wake of a
   * session, are no requests of the plugin: they stay, and pending() does not list them. */
  bg_status (*cancel)(const bg_host *, bg_str task_id) BG_NOEXCEPT;
  /* [any] [waits] Withdraws all requests that pending() lists; BG_OK also if there are none. */
  bg_status (*cancel_all)(const bg_host *) BG_NOEXCEPT;
  /* [any] [waits] Copies the pending requests of the tasks that this plugin handles: at most
   * `capacity` into the array `out`, which the caller owns. Sets *total to their number; total must
   * not be 0. With capacity above 0, set out[0].size to your sizeof(bg_pending), the distance
   * between two elements. BG_E_LIMIT: more than 65536 are pending; *total is 65536 and `out` has the
   * first of them. The list may or may not contain a request that is submitted or starts during the
   * call. */
  bg_status (*pending)(const bg_host *, bg_pending *out, size_t capacity, size_t *total)
      BG_NOEXCEPT;
} bg_schedule;

/* Status: whether background work may start, and which missed starts a run makes up for. */
#define BG_EXT_STATUS "bghost.status/1"

#define BG_REFRESH_AVAILABLE  1u
#define BG_REFRESH_DENIED     2u /* an operator disabled it: the host refuses submissions             */
#define BG_REFRESH_RESTRICTED 3u /* not now: the host accepts a submission, and it waits              */

/* Why background work is restricted: bits of bg_refresh.reasons. Treat an unknown bit as a reason
 * too. */
#define BG_RESTRICTED_BATTERY     1u /* the battery is low and tasks.json has a powerPolicy for that  */
#define BG_RESTRICTED_DRAIN       2u /* the daemon is stopping                                        */
#define BG_RESTRICTED_MAINTENANCE 4u /* reserved: no host sends it                                    */
#define BG_RESTRICTED_BUDGET      8u /* the plugin's runs used too much time within a day             */
#define BG_RESTRICTED_PRESSURE    16u /* reserved: no host sends it                                   */

typedef struct bg_refresh {
  uint32_t size;
  uint32_t status;            /* BG_REFRESH_*                                                         */
  uint32_t reasons;           /* BG_RESTRICTED_*, with BG_REFRESH_RESTRICTED                          */
  uint32_t reserved;
} bg_refresh;

/* Missed starts of the task's schedule that this run makes up for. */
typedef struct bg_missed {
  uint32_t size, reserved;
  uint64_t count;             /* 0: the run makes up for none                                         */
  int64_t  from_unix_ms;      /* Unix time in ms of the first missed start; 0 if there is none        */
} bg_missed;

typedef struct bg_statuses {
  uint32_t size, reserved;
  /* [any] [waits] Fills `out`: whether background work of this plugin may start. Set out->size to
   * your sizeof(bg_refresh) first. */
  bg_status (*refresh)(const bg_host *, bg_refresh *out) BG_NOEXCEPT;
  /* [any] [waits] Fills `out` with the missed starts that a run of this plugin makes up for. Set
   * out->size to your sizeof(bg_missed) first. BG_E_STALE once the run is over. */
  bg_status (*missed)(const bg_host *, bg_run, bg_missed *out) BG_NOEXCEPT;
} bg_statuses;

/* Identity of a run, for servers that must recognise repetitions, or refuse a run that a later one
 * has replaced. */
#define BG_EXT_RUN "bghost.run/1"

typedef struct bg_run_identity {
  uint32_t size, reserved;
  uint64_t epoch;             /* fencing token: each later run on this daemon has a greater one       */
  char     run_id[32];        /* 26 letters and digits, then NULs: the id that `bghost show` prints   */
  char     idempotency_key[64]; /* text, then NULs: the same for all attempts of one request          */
} bg_run_identity;

/* Where a failure comes from, for those who repair the handler. */
typedef struct bg_run_error {
  uint32_t size;
  uint32_t line;              /* in the source file, from 1; 0: unknown                                */
  bg_str   type_name;         /* of the error, as its language has it, e.g. "app.ParseError"; or ""    */
  bg_str   file;              /* the source file, e.g. "app/parse.c"; or ""                            */
} bg_run_error;

typedef struct bg_runs {
  uint32_t size, reserved;
  /* [any] Fills `out`. Set out->size to your sizeof(bg_run_identity) first. BG_E_STALE once the run
   * is over. */
  bg_status (*identity)(const bg_host *, bg_run, bg_run_identity *out) BG_NOEXCEPT;
  /* [any] [waits] Like bg_schedule.submit(), and records which run submitted the request. With
   * bg_schedule.submit() the host records the plugin's only run if exactly one is under way, else
   * the plugin. */
  bg_status (*submit)(const bg_host *, bg_run, const bg_request *) BG_NOEXCEPT;
  /* [any] Says what the run fails with. If it then fails, by complete() or by the answer of start(), the
   * host stores it in the run's record; the last call counts. The host truncates the type to 256 bytes and
   * the file to 512, and replaces invalid UTF-8. BG_E_STALE once the run is over. */
  bg_status (*error)(const bg_host *, bg_run, const bg_run_error *) BG_NOEXCEPT;
} bg_runs;

/* Checkpoints: what a run saves so that the next attempt of its request can go on from there. A request
 * has at most one. The host gives it to each later attempt, also after a retry, a cancellation, a kill, a
 * crash of the worker, a restart of the daemon and a redrive of a dead letter. The host deletes it when
 * the request ends: with the transaction that ends its last run or withdraws it, or when an operator
 * discards the dead letter. A successful run ends its request; each new request begins without one.
 * Stored checkpoints count against the memory that the host holds for a plugin. */
#define BG_EXT_CHECKPOINT "bghost.checkpoint/1"

#define BG_CHECKPOINT_MAX 65536u /* bytes                                                             */

typedef struct bg_checkpoints {
  uint32_t size, reserved;
  /* [any] [waits] Saves `length` bytes as the checkpoint of the run's request, instead of what was saved
   * before; the host copies them. BG_OK: it is stored and survives a restart or power cut. Length 0
   * deletes the checkpoint. A cancelled run may save until it is complete. BG_E_STALE: the run is over;
   * the host changes nothing, so that no earlier attempt replaces what a later one has saved.
   * BG_E_LIMIT: more than BG_CHECKPOINT_MAX bytes, or the plugin has no memory left in the daemon; what
   * was saved before is kept. BG_E_FAILED: the host cannot store it now; after a wait of 5 seconds it may
   * be stored nevertheless. */
  bg_status (*save)(const bg_host *, bg_run, const void *bytes, size_t length) BG_NOEXCEPT;
  /* [any] [waits] Copies the checkpoint into `buffer`: that of an earlier attempt, or what this run has
   * saved. `buffer`, `capacity` and `need` are as for bg_host.param. BG_E_ABSENT: there is none.
   * BG_E_FAILED: the host cannot read it now; do not begin from the start because of that. */
  bg_status (*load)(const bg_host *, bg_run, void *buffer, size_t capacity, size_t *need) BG_NOEXCEPT;
} bg_checkpoints;

/* The main thread of the process, for runtimes and libraries that need one, such as Swift's main
 * actor or an event loop. It is the thread that loaded the plugin and called open(). Only worker
 * processes have this extension: inside the daemon no thread belongs to the plugin. */
#define BG_EXT_MAIN "bghost.main/1"

typedef struct bg_main {
  uint32_t size, reserved;
  /* Registers a descriptor; call it only inside open(), at most 8 times. From then on the host calls
   * service(context) on the main thread whenever fd is readable. The host never reads fd: service()
   * must read it, or the host calls it again at once. The plugin keeps fd open until the process
   * ends. BG_E_ARG: called outside open(); BG_E_LIMIT: called more than 8 times. */
  bg_status (*serve)(const bg_host *, int fd, void (*service)(void *context), void *context)
      BG_NOEXCEPT;
} bg_main;

/* HTTP requests that the host makes for a run, within the plugin's network permissions. A fetch ends
 * with its run at the latest. */
#define BG_EXT_FETCH "bghost.fetch/1"

typedef uint64_t bg_fetch; /* 0 is no fetch */

typedef struct bg_fetch_request {
  uint32_t size, flags;       /* BG_FETCH_*                                                           */
  bg_str   url;               /* http or https                                                        */
  bg_str   method;            /* "": GET                                                              */
  bg_str   headers;           /* lines "Name: value\n", or ""                                         */
  bg_str   body;              /* at most 64 KiB; use body_file for a larger body                      */
  bg_str   body_file;         /* a path that this plugin may read, or ""; not together with body      */
  int64_t  max_bytes;         /* limit for the body of the response; 0: 1 MiB                         */
  int64_t  timeout_ms;        /* 0: 60 s; the end of the run is always a limit too                    */
} bg_fetch_request;

#define BG_FETCH_DIGEST 1u    /* send "Repr-Digest: sha-256=..." (RFC 9530) of the body               */

/* The result of a fetch. The host owns it; it is valid until `done` returns. */
typedef struct bg_fetch_result {
  uint32_t  size;
  bg_status status;           /* BG_OK: the server sent a response, whatever its status code          */
  int32_t   http_status;      /* 0 without a response                                                 */
  uint32_t  reserved;
  bg_str    headers;          /* lines "name: value\n"; names in lower case                           */
  bg_str    body;
  bg_str    message;          /* why there is no response                                             */
} bg_fetch_result;

typedef struct bg_fetches {
  uint32_t size, reserved;
  /* [any] Starts a fetch and returns at once; the host copies the request. If it returns BG_OK, the
   * host calls done(context, ...) exactly once, perhaps before begin() returns, on a thread of the
   * host, without holding a lock, never on the caller's stack. `done` must return within 100 ms. The
   * host calls release() of the run only after `done`. out may be 0; the host sets *out before it
   * calls `done`. */
  bg_status (*begin)(const bg_host *, bg_run, const bg_fetch_request *,
                     void (*done)(void *context, bg_fetch, const bg_fetch_result *), void *context,
                     bg_fetch *out) BG_NOEXCEPT;
  /* [any] Cancels a fetch. The host still calls its `done`: with BG_E_CANCELLED, unless the fetch
   * had ended. */
  bg_status (*cancel)(const bg_host *, bg_fetch) BG_NOEXCEPT;
} bg_fetches;

/* Transfers: uploads and downloads of files. The daemon makes them, within the plugin's network
 * permissions, so a transfer outlives the run that began it, the worker and the daemon's process.
 *
 * Each transfer belongs to a session, a named group of a plugin's transfers that tasks.json declares.
 * The host reports an ended transfer to one of two receivers:
 *   - a run that called wait() for it; or else
 *   - a wake, a run of the session's handler with BG_RUN_WAKE. It starts when the session's last
 *     transfer that no run waits for has ended, but not while the run that began a transfer is still
 *     under way. One wake receives all ended transfers. If it does not succeed, the host starts
 *     another, until one succeeds. The host keeps files and results until then, for 7 days at most.
 * If the host chose the place of a download (`file` is ""), the host removes the file once a wake has
 * succeeded or the plugin has acknowledged the transfer, unless a run received it through wait().
 *
 * A JSON object describes a transfer, in bg_transfer_end, in params of a wake and in lists:
 *   id, session, url, label, continuation   as requested
 *   upload        true for an upload, false for a download
 *   state         "waiting", "active", "paused", "retrying", "done", "failed" or "cancelled"
 *   status        the HTTP status code, or 0
 *   headers       of the response: a list of [name in lower case, value]
 *   body          the response to an upload, as text; at most 16 KiB
 *   file          the absolute path of the uploaded file, or of the downloaded one
 *   bytes, total  bytes transferred so far, and in all; total is -1 while unknown
 *   fault         the last error, {"code", "message"}, or null
 *   kept          true if the host keeps the result for the session (bghost.wake/1); else absent
 * params of a wake: {"session": name, "transfers": [...], "more": whether list() returns more}. */
#define BG_EXT_TRANSFER "bghost.transfer/1"

#define BG_RUN_WAKE 0x20000u /* in bg_run_info.flags: the run is a wake                               */

/* The id of a transfer: 26 letters and digits, then NULs. It stays valid in later runs and
 * processes. */
typedef struct bg_transfer {
  char id[32];
} bg_transfer;

typedef struct bg_transfer_request {
  uint32_t size, flags;       /* BG_TRANSFER_*                                                        */
  bg_str   session;           /* 1 to 128 characters of [A-Za-z0-9._-]                                */
  bg_str   url;               /* http or https                                                        */
  bg_str   method;            /* "": GET; PUT for an upload; POST with BG_TRANSFER_FORM               */
  bg_str   headers;           /* lines "Name: value\n", or ""                                         */
  bg_str   body;              /* of a download: at most 64 KiB; the host sends it with each attempt   */
  bg_str   file;              /* absolute. Upload: a file that this plugin may read. Download: where  */
                              /* it may write; or "": the host chooses a place in data_dir            */
  bg_str   form_field, form_name, form_type; /* with BG_TRANSFER_FORM; defaults for "": "file", the   */
                              /* name of the file and "application/octet-stream"                      */
  bg_str   digest;            /* of a download: the SHA-256 required, 64 hex digits, or ""            */
  bg_str   continuation;      /* UTF-8 for the run that receives the end; at most 64 KiB as JSON,     */
                              /* and 120 KiB together with headers and body                           */
  bg_str   label;             /* for people, at most 256 bytes, or ""                                 */
  int64_t  earliest_unix_ms;  /* the earliest start, Unix time in ms; 0: now                          */
  int64_t  max_bytes;         /* limit for the file; 0: the limit in tasks.json                       */
  int64_t  idle_timeout_ms;   /* the longest time without a byte; 0: 60 s                             */
  int64_t  total_timeout_ms;  /* for all attempts together; 0: 7 days                                 */
} bg_transfer_request;

#define BG_TRANSFER_UPLOAD        1u  /* send a file; clear: download one                             */
#define BG_TRANSFER_FORM          2u  /* upload the file as a part of multipart/form-data             */
#define BG_TRANSFER_RESUMABLE     4u  /* resumable, if the server speaks tus 1.0.0 or the IETF draft  */
#define BG_TRANSFER_DISCRETIONARY 8u  /* wait for external power, unmetered network and idle machine  */
#define BG_TRANSFER_NO_WAKE       16u /* its end starts no wake; the host keeps it for claim()        */

/* The result of wait(). The host owns it; it is valid until `done` returns. */
typedef struct bg_transfer_end {
  uint32_t  size;
  bg_status status;           /* BG_OK: the transfer has ended, with any state. BG_E_CANCELLED: the   */
                              /* host cancelled the run; the transfer continues without it            */
  bg_str    transfer;         /* the JSON object described above, with BG_OK                          */
} bg_transfer_end;

typedef struct bg_transfers {
  uint32_t size, reserved;
  /* [any] [waits] Starts a transfer; the host copies the request. BG_OK: the transfer is stored, and
   * continues after the run. Sets *out to its id. If the session has a transfer under way with the
   * same method, URL, body, file and headers, the host starts no other and sets *out to that one.
   * BG_E_PERM: tasks.json does not declare the session, or does not permit the server or the file;
   * the host's log says which. */
  bg_status (*begin)(const bg_host *, bg_run, const bg_transfer_request *, bg_transfer *out)
      BG_NOEXCEPT;
  /* [any] Asks for the end of a transfer and returns at once. If it returns BG_OK, the host calls
   * done(context, ...) exactly once, under the same rules as for bg_fetches.begin. No wake receives
   * an end that the run received this way. If the run is cancelled or ends first, the transfer
   * continues and a wake receives its end. */
  bg_status (*wait)(const bg_host *, bg_run, const bg_transfer *,
                     void (*done)(void *context, const bg_transfer_end *), void *context)
      BG_NOEXCEPT;
  /* [any] [waits] Cancels a transfer of this plugin. BG_E_ABSENT if it has ended or is unknown. */
  bg_status (*cancel)(const bg_host *, const bg_transfer *) BG_NOEXCEPT;
  /* [any] [waits] Writes a JSON array into `buffer`: the transfers of a session that are under way,
   * or ended and not acknowledged, oldest first, as many as fit. With `after`, only those after that
   * transfer; it may be 0. `buffer`, `capacity` and `need` are as for bg_host.param. BG_E_SMALL: not
   * even one fits; *need is the length for one. */
  bg_status (*list)(const bg_host *, bg_str session, const bg_transfer *after, char *buffer,
                    size_t capacity, size_t *need) BG_NOEXCEPT;
  /* [any] [waits] Acknowledges an ended transfer: no later wake receives it. A wake that succeeds
   * acknowledges all transfers in its params, except those that it keeps (bghost.wake/1). */
  bg_status (*acknowledge)(const bg_host *, const bg_transfer *) BG_NOEXCEPT;
} bg_transfers;

/* Kept ends. A wake that succeeds acknowledges all ended transfers in its params. If nothing in the
 * process can receive one of them yet, the handler calls keep() for it. The host then keeps that
 * end, over restarts and for 7 days at most, until a run calls claim() for its session. A kept end
 * starts no run. The host keeps at most 1000 ends of a plugin, and 16 MiB of their descriptions; it
 * drops the oldest beyond that and logs this. */
#define BG_EXT_WAKE "bghost.wake/1"

typedef struct bg_wakes {
  uint32_t size, reserved;
  /* [any] [waits] Keeps `count` ends, an array of at most 1024 ids from the params of this wake: if
   * the run succeeds, the host keeps them instead of acknowledging them. BG_E_ABSENT: an id is not in
   * the params; the call then keeps none. */
  bg_status (*keep)(const bg_host *, bg_run, const bg_transfer *, size_t count) BG_NOEXCEPT;
  /* [any] [waits] Claims the kept ends of a session, and ended transfers with BG_TRANSFER_NO_WAKE:
   * writes them as a JSON array, oldest first, as many as fit. An empty array: there are no more. No
   * other run receives them until this run is over; then the host keeps those again that the run has
   * not acknowledged. `buffer`, `capacity` and `need` are as for bg_transfers.list; a call that only
   * asks for the length claims nothing. */
  bg_status (*claim)(const bg_host *, bg_run, bg_str session, char *buffer, size_t capacity,
                     size_t *need) BG_NOEXCEPT;
} bg_wakes;

/* Notifications: messages to people. The host stores a notification before post() returns. The task
 * that tasks.json names for this delivers it, at least once. When a person answers a notification, the
 * host starts a run of the plugin's handler "notificationAction" with the params {"id": of the
 * notification, "action": id of the action, "text": what the person typed, or null,
 * "userInfo": {...}}. */
#define BG_EXT_NOTIFY "bghost.notify/1"

#define BG_NOTIFY_PASSIVE        0u
#define BG_NOTIFY_ACTIVE         1u
#define BG_NOTIFY_TIME_SENSITIVE 2u
#define BG_NOTIFY_CRITICAL       3u

typedef struct bg_notification {
  uint32_t size;
  uint32_t level;             /* BG_NOTIFY_*                                                          */
  bg_str   id;                /* 1 to 128 bytes; replaces an earlier notification of this id          */
  bg_str   title, subtitle, body; /* at most 4 KiB together                                           */
  bg_str   thread, category;  /* for grouping; at most 128 bytes each, or ""                          */
  bg_str   user_info;         /* a JSON object of at most 4 KiB, or ""                                */
  bg_str   actions;           /* a JSON array of at most 8 objects {"id", "title"}, or ""             */
  int64_t  at_unix_ms;        /* the earliest delivery, Unix time in ms; 0: now                       */
  int64_t  every_ms;          /* repeat after this time, at least 60 s; 0: deliver once               */
  bg_str   calendar, time_zone; /* as in tasks.json: when to deliver; instead of the two fields above */
} bg_notification;

typedef struct bg_notifier {
  uint32_t size, reserved;
  /* [any] [waits] Posts a notification; the host copies it. BG_OK: it is stored and survives a
   * restart or power cut. BG_E_PERM: tasks.json does not permit this plugin to post. run may be 0
   * outside of runs. */
  bg_status (*post)(const bg_host *, bg_run, const bg_notification *) BG_NOEXCEPT;
  /* [any] [waits] Withdraws a notification that is not delivered yet. BG_E_ABSENT if there is none
   * with this id. */
  bg_status (*withdraw)(const bg_host *, bg_str id) BG_NOEXCEPT;
  /* [any] [waits] Writes a JSON array of this plugin's undelivered notifications into `buffer`, each
   * an object with the field names of bg_notification. `buffer`, `capacity` and `need` are as for
   * bg_host.param. */
  bg_status (*pending)(const bg_host *, char *buffer, size_t capacity, size_t *need) BG_NOEXCEPT;
} bg_notifier;

/* The host's clock. Only hosts whose time is not the machine's have this extension, such as test
 * hosts. With it, bg_run_info.deadline_mono_ns is a time of this clock. Without it, use the
 * machine's clocks. */
#define BG_EXT_CLOCK "bghost.clock/1"

typedef uint64_t bg_sleep; /* 0 is no sleep */

typedef struct bg_clock {
  uint32_t size, reserved;
  /* [any] Reads the clock: Unix time in nanoseconds, which may jump, and monotonic time in
   * nanoseconds, which only grows. Either pointer may be 0. */
  bg_status (*now)(const bg_host *, int64_t *unix_ns, int64_t *mono_ns) BG_NOEXCEPT;
  /* [any] Starts a sleep and returns at once. If it returns BG_OK, the host calls done(context, ...)
   * exactly once, under the same rules as for bg_fetches.begin: with BG_OK at until_mono_ns, or with
   * BG_E_CANCELLED if wake() or the end of the run ends the sleep before. out may be 0; the host
   * sets *out before it calls `done`. */
  bg_status (*sleep)(const bg_host *, bg_run, int64_t until_mono_ns,
                     void (*done)(void *context, bg_sleep, bg_status), void *context,
                     bg_sleep *out) BG_NOEXCEPT;
  /* [any] Ends a sleep. The host still calls its `done`: with BG_E_CANCELLED, unless the sleep had
   * ended. */
  bg_status (*wake)(const bg_host *, bg_sleep) BG_NOEXCEPT;
} bg_clock;

/* The place of a run in a trace, as W3C Trace Context has it. A run has one if its request was
 * submitted with one, or if the host records traces. What the host does for the run carries it
 * already: fetches, transfers, and requests that the run submits. A plugin needs it for what it does
 * itself, such as its own HTTP requests. */
#define BG_EXT_TRACE "bghost.trace/1"

typedef struct bg_trace_context {
  uint32_t size, reserved;
  char     traceparent[64];   /* 55 characters, then NULs: the value of the header traceparent        */
  char     tracestate[520];   /* at most 512 characters, then NULs; empty: do not send the header     */
} bg_trace_context;

typedef struct bg_traces {
  uint32_t size, reserved;
  /* [any] Fills `out`. Set out->size to your sizeof(bg_trace_context) first. BG_E_ABSENT: the run has
   * no trace; BG_E_STALE: the run is over. */
  bg_status (*context)(const bg_host *, bg_run, bg_trace_context *out) BG_NOEXCEPT;
} bg_traces;

#ifdef __cplusplus
}
#endif
#endif
