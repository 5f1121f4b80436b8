/* SPDX-License-Identifier: Apache-2.0
 *
 * bghost.h: the C ABI between bghost (the host) and a plugin. Major 1, minor 0.
 *
 * A plugin is one shared object that exports one function, bghost_plugin_v1(). It returns a static
 * table of handlers; the operator's tasks.json names which handler serves which task. The host loads
 * a plugin into a worker process of its own, or, where the manifest says so, into the daemon.
 *
 * Platform: LP64, little-endian Linux; GCC or Clang; C99 with <stddef.h> and <stdint.h>, also valid
 * C++17.
 *
 * Rules of the boundary
 *   R1 Text is (pointer, length) UTF-8. No terminating NUL is needed or looked for, but where the text
 *      says so; {0, 0} is "".
 *   R2 Neither side frees the other side's memory. The host copies your arguments before its function
 *      returns. A pointer that the host passes to you is valid until the call returns, unless a longer
 *      life is written beside it.
 *   R3 Host functions never call back on the stack that called them and never wait for your locks,
 *      so they may be called with locks held; not in a signal handler, nor in a child of fork().
 *      Those tagged [waits] ask the daemon and take up to a few milliseconds, five seconds at most.
 *   R4 Runs and fetches are numbers. A stale or invented one is answered BG_E_STALE; it never faults.
 *   R5 bg_host and its extension tables are never freed or changed. They may be used from the entry
 *      function on. Once close() has returned, every function in them that answers a bg_status
 *      answers BG_E_CLOSED.
 *   R6 No exception, panic, longjmp or thread exit may cross this boundary in either direction.
 *   R7 Each struct but bg_str begins with its size, the sizeof of the side that fills it; a reader uses
 *      the fields that lie within min(size, sizeof). All fields of minor 0 must be there: a smaller
 *      struct is refused. Fields are only ever appended. Within a major none is moved, retyped,
 *      reused or given a stricter meaning.
 *   R8 Flag bits 0 to 15 must be understood by the reader, else it refuses; bits 16 to 31 may be
 *      ignored. An unknown BG_WHY_* means "stop". An unknown negative status counts as BG_E_FAILED;
 *      an unknown positive one is a fault of the plugin. Fields named reserved are 0.
 *
 * Threads, in brackets at each function
 *   [any]   from any thread, at any time, concurrently, also from threads the plugin made.
 *   [host]  the host makes this call, on any of its threads: keep nothing in thread-locals. Calls
 *           for different runs may overlap, start() included; those for one run only where it is said.
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

/* R1. */
typedef struct bg_str {
  const char *ptr;
  size_t      len;
} bg_str;

/* The initializer of a bg_str from a string literal. */
#define BG_LIT(text) { (text), sizeof(text) - 1 }

/* One invocation of a handler. 0 is no run. A number is not used again while the host is up. */
typedef uint64_t bg_run;

/* ---- status --------------------------------------------------------------------------------- */

typedef int32_t bg_status; /* a plugin may use -1000 and below for failures of its own              */

#define BG_PENDING      1    /* from start(): the run goes on; complete() follows exactly once        */
#define BG_OK           0
#define BG_E_FAILED     (-1) /* failed; the task's `retry` in tasks.json decides what follows         */
#define BG_E_RETRY      (-2) /* the same; retry_after_ms may set the delay                            */
#define BG_E_CANCELLED  (-3) /* stopped because it was asked to                                       */
#define BG_E_FINAL      (-4) /* failed, and would fail again: it is not retried, whatever `retry` says */
#define BG_E_STALE      (-10) /* the number is unknown, or that run is already complete               */
#define BG_E_CLOSED     (-11) /* the plugin is closed                                                 */
#define BG_E_ARG        (-12) /* bad pointer, length, UTF-8, JSON or struct size                      */
#define BG_E_PERM       (-13) /* not permitted by tasks.json                                          */
#define BG_E_LIMIT      (-14) /* too many, too big or too fast                                        */
#define BG_E_SMALL      (-15) /* the buffer is too small; *need says how much is wanted               */
#define BG_E_ABSENT     (-16) /* no such key, extension or request                                    */
#define BG_E_KIND       (-17) /* the task is of another kind than the request                         */

/* Why a run is asked to stop. */
#define BG_WHY_EXPIRED   1u /* its runtime is used up                                                 */
#define BG_WHY_USER      2u /* an operator asked                                                      */
#define BG_WHY_DRAIN     3u /* the plugin closes or the daemon stops                                  */
#define BG_WHY_CONDITION 4u /* something that it requires (power, network) went away                  */
#define BG_WHY_QUOTA     5u /* over a limit of memory, CPU or processes; a kill is near               */

/* ---- what a run is told, and what it answers ------------------------------------------------- */

/* How a run ended. payload is JSON or "", at most bg_run_info.max_result bytes: a longer one is
 * answered BG_E_LIMIT. */
typedef struct bg_result {
  uint32_t  size;
  bg_status status;         /* 0 or below                                                             */
  bg_str    message;        /* one line for people, or ""; cut at 8 KiB                               */
  bg_str    payload;
  int64_t   retry_after_ms; /* with BG_E_RETRY: not before this delay; 0 leaves it to the manifest    */
} bg_result;

typedef struct bg_task bg_task;

/* All of it, and all it points to, stays valid until release() of this run has returned. Without a
 * release(), until the run is complete and neither start() nor cancel() is under way: copy what a
 * thread may use after that. */
typedef struct bg_run_info {
  uint32_t size;
  uint32_t attempt;          /* 1 is the first                                                        */
  bg_run   run;
  bg_str   task_id;          /* the identifier in tasks.json                                          */
  bg_str   params;           /* a JSON object; "{}" if there are none                                 */
  bg_str   data_dir;         /* absolute; this plugin's own, writable, kept between runs              */
  int64_t  deadline_mono_ns; /* CLOCK_MONOTONIC at which cancel(BG_WHY_EXPIRED) comes                 */
  uint32_t grace_ms;         /* the kill follows this long after any cancel                           */
  uint32_t max_result;       /* bytes                                                                 */
  int32_t  cancel_fd;        /* readable once cancelled: poll it; never read, write or close it. -1   */
                             /* if there is none left: ask cancelled() instead                        */
  uint32_t flags;            /* BG_RUN_*                                                              */
  const bg_task *task;       /* the handler that this run is for: the pointer of the plugin's own     */
                             /* table, so that one start() can serve many                             */
} bg_run_info;

#define BG_RUN_WORKER 0x10000u /* in a worker process; clear: inside the daemon                       */

/* ---- what the host does for a plugin --------------------------------------------------------- */

typedef struct bg_host bg_host;
struct bg_host {
  uint32_t size;
  uint16_t abi_major, abi_minor;
  void    *ctx;           /* the host's own                                                           */
  bg_str   name, version; /* of the host, for messages                                                */

  /* [any] Ends a run. The first valid call is answered BG_OK and decides; every later one is answered
   * BG_E_STALE and changes nothing. BG_E_ARG and BG_E_LIMIT leave the run open: complete it with less.
   * May be called inside start() and inside cancel(). */
  bg_status (*complete)(const bg_host *, bg_run, const bg_result *) BG_NOEXCEPT;

  /* [any] BG_OK: go on. Above 0: the BG_WHY_* for which to stop. Below 0: the run is over, stop too.
   * Cheap enough for inner loops. */
  bg_status (*cancelled)(const bg_host *, bg_run) BG_NOEXCEPT;

  /* [any] Sets the pointer that cancel() and release() of this run are given; 0 until set. */
  bg_status (*set_state)(const bg_host *, bg_run, void *state) BG_NOEXCEPT;

  /* [any] How far the run is; total 0 is "unknown". Calls beyond the rate limit are dropped, BG_OK. */
  bg_status (*progress)(const bg_host *, bg_run, uint64_t done, uint64_t total, bg_str phase)
      BG_NOEXCEPT;

  /* [any] level: 0 trace, 1 debug, 2 info, 3 warning, 4 error, 5 fault. run may be 0. The text is
   * taken as it is (no format directives), bad UTF-8 is repaired, and it is cut at 8 KiB; a flood is
   * counted and dropped, BG_OK. A run may log until its release() has returned. */
  bg_status (*log)(const bg_host *, bg_run, uint32_t level, bg_str message) BG_NOEXCEPT;

  /* [any] The value at an RFC 6901 pointer in params, as text without a NUL: a string without quotes
   * and escapes, all else as JSON. need may be 0; *need is set to the length, also with BG_E_SMALL.
   * capacity 0 asks for the length only. BG_E_ABSENT: there is no such value. */
  bg_status (*param)(const bg_host *, bg_run, bg_str pointer, char *buffer, size_t capacity,
                     size_t *need) BG_NOEXCEPT;

  /* [any] An extension table by its name, which ends with a NUL, or 0 where this host has none. Lives
   * as long as bg_host. */
  const void *(*extension)(const bg_host *, const char *name) BG_NOEXCEPT;

  /* Minor 1 appends here. */
};

/* ---- what a plugin offers --------------------------------------------------------------------- */

/* One handler. Memory of the plugin that is never changed or freed once the entry has returned. */
struct bg_task {
  uint32_t size;
  uint32_t flags;         /* BG_TASK_*                                                                */
  bg_str   handler;       /* the name that tasks.json uses: 1 to 128 of [A-Za-z0-9._-]                */
  bg_str   params_schema; /* a JSON Schema for params, or "": at most 64 KiB. It describes; check     */
                          /* params in start() all the same                                          */

  /* [host] Begins a run; called once per run. Runs overlap unless BG_TASK_SERIAL. Returns within
   * 250 ms unless BG_TASK_MAY_BLOCK: until then neither other runs of the plugin nor a cancel() may
   * get through. Either BG_PENDING, or a final status: then the run is complete (had complete() been
   * accepted before, that call decided and the return value is ignored). */
  bg_status (*start)(void *plugin, const bg_run_info *) BG_NOEXCEPT;

  /* [host] May be 0. Asks the run to stop, at most once per run, and returns within 100 ms; the run
   * may still end BG_OK. Comes after start() has returned, except with BG_TASK_MAY_BLOCK, where it
   * may overlap start() or come just before it: ask cancelled() once the state is set. Never begins
   * after complete() was accepted, but may be under way then: let go of the run's state in release(),
   * not after complete(). */
  void (*cancel)(void *plugin, bg_run, void *state, uint32_t why) BG_NOEXCEPT;

  /* [host] May be 0: a plugin with no state to free does better without. The last call of each run
   * whose start() was entered: start() and cancel() have returned and the run is complete. Free the
   * run's state here. */
  void (*release)(void *plugin, bg_run, void *state) BG_NOEXCEPT;
};

#define BG_TASK_MAY_BLOCK    1u /* start() may take as long as the run                                */
#define BG_TASK_SERIAL       2u /* never two runs of this handler at once, in whatever processes      */
#define BG_TASK_NEEDS_WORKER 4u /* refuse to run inside the daemon                                    */

/* The plugin. Memory as of bg_task. The texts have no control characters. */
typedef struct bg_plugin {
  uint32_t size;
  uint16_t abi_major;      /* BG_ABI_MAJOR                                                            */
  uint16_t min_host_minor; /* the oldest host minor that this plugin can live with                    */
  bg_str   id;             /* reverse DNS, e.g. org.example.weather; at most 128 bytes                */
  bg_str   version, vendor; /* at most 64 and 256 bytes                                               */
  uint32_t flags;          /* none are defined: 0                                                     */
  uint32_t n_tasks;        /* 1 to 256, each with a name of its own                                   */
  const bg_task *const *tasks; /* pointers, so that bg_task can grow                                  */

  /* [host] These three never overlap one another; each may be 0.
   * open: cheap. config is a JSON object. *plugin, 0 until set, is handed to every later call. If it
   *       answers anything but BG_OK, the plugin is not used and close is not called. After close the
   *       entry and open may be called again, with the same bg_host or another: keep nothing in
   *       globals but the host that came last. */
  bg_status (*open)(const bg_host *, bg_str config, void **plugin) BG_NOEXCEPT;
  /* drain: start nothing new. Every live run has been cancelled. May overlap runs. A process that is
   *        killed sees neither drain nor close. */
  void (*drain)(void *plugin) BG_NOEXCEPT;
  /* close: no run is left. Join your threads, close your descriptors, undo your signal handlers. The
   *        image stays mapped for the life of the process. */
  void (*close)(void *plugin) BG_NOEXCEPT;
} bg_plugin;

/* The one exported symbol. It starts no thread and touches no file, network, environment or signal;
 * it may keep the host's pointer and log. It returns the same pointer each time. 0 means "cannot run
 * here"; a host newer than the plugin is no reason for that. */
#define BG_ENTRY_NAME "bghost_plugin_v1"
BG_EXPORT const bg_plugin *bghost_plugin_v1(const bg_host *host) BG_NOEXCEPT;

/* Metadata that the host reads without running any of the plugin: an ELF note in section
 * .note.bghost, owner "bghost", type 1, text "key=value;...". Keys: abi=MAJOR.MINOR (required),
 * id=... (if given, the same as bg_plugin.id), runtime=c|c++|swift|rust|... (optional). Write it in
 * one source file of the plugin, outside any function. */
#define BG_NOTE(text)                                                                              \
  __attribute__((section(".note.bghost"), used, aligned(4))) static const struct {                 \
    uint32_t namesz, descsz, type;                                                                 \
    char     name[8];                                                                              \
    char     desc[(sizeof(text) + 3u) & ~3u];                                                      \
  } bg_note_ = {7, (sizeof(text) + 3u) & ~3u, 1, "bghost", text}

/* ---- extensions: versioned by name; each table begins with its size ---------------------------- */

/* Requests: ask for runs of tasks, one's own or others' that tasks.json grants. */
#define BG_EXT_SCHEDULE "bghost.schedule/1"

#define BG_KIND_REFRESH    1u
#define BG_KIND_PROCESSING 2u
#define BG_NEEDS_NETWORK   1u
#define BG_NEEDS_POWER     2u
#define BG_NEEDS_UNMETERED 4u

typedef struct bg_request {
  uint32_t size;
  uint32_t kind;              /* BG_KIND_*; 0 takes the task's own, another than that is BG_E_KIND    */
  bg_str   task_id;           /* must be granted to this plugin; replaces a pending one of this id    */
  bg_str   params;            /* a JSON object or ""                                                  */
  int64_t  earliest_unix_ms;  /* not before this time; 0 is "as soon as allowed"                      */
  uint32_t needs, reserved;   /* BG_NEEDS_*: it waits for these besides what its task requires        */
} bg_request;

typedef struct bg_pending {
  uint32_t size;
  uint32_t kind;
  int64_t  earliest_unix_ms;
  char     task_id[136];      /* ends with a NUL                                                      */
  /* Appended: there only if size is above 152. */
  uint32_t needs, reserved;   /* BG_NEEDS_*, as submitted                                             */
} bg_pending;

typedef struct bg_schedule {
  uint32_t size, reserved;
  /* [any] [waits] BG_OK once the request is stored for good. */
  bg_status (*submit)(const bg_host *, const bg_request *) BG_NOEXCEPT;
  /* [any] [waits] Withdraws what is pending, not a run; BG_E_ABSENT if nothing is. */
  bg_status (*cancel)(const bg_host *, bg_str task_id) BG_NOEXCEPT;
  /* [any] [waits] Withdraws all that pending() lists; BG_OK also if that is nothing. */
  bg_status (*cancel_all)(const bg_host *) BG_NOEXCEPT;
  /* [any] [waits] The pending requests of the tasks that this plugin handles: the first `capacity` of
   * *total; total must not be 0. With a capacity above 0, set out[0].size to your
   * sizeof(bg_pending): it is the distance from one to the next. BG_E_LIMIT: there are more than
   * *total, which is 65536 then; the first of them are in out all the same. What is submitted or begins
   * during the call may be in the list or not. */
  bg_status (*pending)(const bg_host *, bg_pending *out, size_t capacity, size_t *total)
      BG_NOEXCEPT;
} bg_schedule;

/* How things stand: whether background work may start, and what a run stands for. */
#define BG_EXT_STATUS "bghost.status/1"

#define BG_REFRESH_AVAILABLE  1u
#define BG_REFRESH_DENIED     2u /* an operator has said no: a submission is refused                  */
#define BG_REFRESH_RESTRICTED 3u /* not now: a submission is accepted and waits                       */

/* Why not now; bits of bg_refresh.reasons. An unknown one is a reason all the same. */
#define BG_RESTRICTED_BATTERY     1u /* the battery is low, and tasks.json has a powerPolicy for that */
#define BG_RESTRICTED_DRAIN       2u /* the daemon stops                                              */
#define BG_RESTRICTED_MAINTENANCE 4u /* reserved: no host sends it                                    */
#define BG_RESTRICTED_BUDGET      8u /* the plugin's runs took too long within a day                  */
#define BG_RESTRICTED_PRESSURE    16u /* reserved: no host sends it                                   */

typedef struct bg_refresh {
  uint32_t size;
  uint32_t status;            /* BG_REFRESH_*                                                         */
  uint32_t reasons;           /* BG_RESTRICTED_*, with BG_REFRESH_RESTRICTED                          */
  uint32_t reserved;
} bg_refresh;

/* Missed starts of the task's schedule for which this run stands. */
typedef struct bg_missed {
  uint32_t size, reserved;
  uint64_t count;             /* 0: it stands for itself alone                                        */
  int64_t  from_unix_ms;      /* the first of them; 0 if there are none                               */
} bg_missed;

typedef struct bg_statuses {
  uint32_t size, reserved;
  /* [any] [waits] Whether background work of this plugin may start. Set out->size to your sizeof. */
  bg_status (*refresh)(const bg_host *, bg_refresh *out) BG_NOEXCEPT;
  /* [any] [waits] What a run of this plugin stands for; BG_E_STALE once it is over. Set out->size to
   * your sizeof. */
  bg_status (*missed)(const bg_host *, bg_run, bg_missed *out) BG_NOEXCEPT;
} bg_statuses;

/* A run's names outside of this process, for servers that must know a repetition, or refuse a run that
 * has been replaced by a later one. */
#define BG_EXT_RUN "bghost.run/1"

typedef struct bg_run_identity {
  uint32_t size, reserved;
  uint64_t epoch;             /* a fencing token: each later run of this daemon has a greater one     */
  char     run_id[32];        /* 26 letters and digits and NULs: the run as `bghost show` has it      */
  char     idempotency_key[64]; /* text and NULs: the same for all attempts at one request            */
} bg_run_identity;

typedef struct bg_runs {
  uint32_t size, reserved;
  /* [any] BG_E_STALE once the run is over. Set out->size to your sizeof. */
  bg_status (*identity)(const bg_host *, bg_run, bg_run_identity *out) BG_NOEXCEPT;
  /* [any] [waits] As bg_schedule.submit(), on behalf of a run, which the records then name. Without
   * it they name the plugin's only run, if there is one, or else the plugin. */
  bg_status (*submit)(const bg_host *, bg_run, const bg_request *) BG_NOEXCEPT;
} bg_runs;

/* The main thread of the process, for runtimes and libraries that want one: Swift's main actor, an
 * event loop. It is the thread that loaded the plugin and called open(). Offered in worker processes;
 * inside the daemon no thread is the plugin's. */
#define BG_EXT_MAIN "bghost.main/1"

typedef struct bg_main {
  uint32_t size, reserved;
  /* [host] Only inside open(), at most 8 times: from then on the host calls service(context) on the
   * main thread whenever fd is readable. The host never reads fd: the service must, or it is called
   * again at once. fd stays open for the life of the process. BG_E_ARG: called outside open();
   * BG_E_LIMIT: too often. */
  bg_status (*serve)(const bg_host *, int fd, void (*service)(void *context), void *context)
      BG_NOEXCEPT;
} bg_main;

/* HTTP that the host carries out for a run, on the run's behalf and within the plugin's network
 * permissions. A fetch ends with its run. */
#define BG_EXT_FETCH "bghost.fetch/1"

typedef uint64_t bg_fetch; /* 0 is no fetch */

typedef struct bg_fetch_request {
  uint32_t size, flags;       /* BG_FETCH_*                                                           */
  bg_str   url;               /* http or https                                                        */
  bg_str   method;            /* "" is GET                                                            */
  bg_str   headers;           /* lines "Name: value\n", or ""                                         */
  bg_str   body;              /* at most 64 KiB; larger bodies come from a file                       */
  bg_str   body_file;         /* a path that this plugin may read, or ""; not together with body      */
  int64_t  max_bytes;         /* of the answer's body; 0 is 1 MiB                                     */
  int64_t  timeout_ms;        /* 0 is 60 s; never beyond the run                                      */
} bg_fetch_request;

#define BG_FETCH_DIGEST 1u    /* send "Repr-Digest: sha-256=..." (RFC 9530) of the body               */

/* The end of a fetch. */
typedef struct bg_fetch_result {
  uint32_t  size;
  bg_status status;           /* BG_OK: there is an HTTP answer, whatever its code                    */
  int32_t   http_status;      /* 0 without an answer                                                  */
  uint32_t  reserved;
  bg_str    headers;          /* lines "name: value\n"; names in lower case                           */
  bg_str    body;
  bg_str    message;          /* why there is no answer                                               */
} bg_fetch_result;

typedef struct bg_fetches {
  uint32_t size, reserved;
  /* [any] Begins a fetch and returns at once. If the answer is BG_OK, `done` is called exactly once,
   * perhaps before begin() has returned, on a thread of the host, in no lock, and not on the caller's
   * stack; it returns within 100 ms. The run is not released before. out may be 0; *out is set before
   * `done` is called. */
  bg_status (*begin)(const bg_host *, bg_run, const bg_fetch_request *,
                     void (*done)(void *context, bg_fetch, const bg_fetch_result *), void *context,
                     bg_fetch *out) BG_NOEXCEPT;
  /* [any] Asks a fetch to end; its `done` still comes, with BG_E_CANCELLED unless it was over. */
  bg_status (*cancel)(const bg_host *, bg_fetch) BG_NOEXCEPT;
} bg_fetches;

/* Transfers: files on their way to or from a server. The daemon carries them, within the plugin's
 * network permissions, so they outlive the run, the worker and the daemon. Transfers belong to a
 * session, a name of the plugin's own. When the last of a session has ended, and no run awaits it, the
 * session's handler gets a run with BG_RUN_WAKE: once for all of them, and again until one succeeds.
 * Until then, but no longer than 7 days, the files and answers are kept. tasks.json declares the
 * sessions. While the run that began a transfer goes on, its session is not told of it. A file in a
 * place of the host's is removed once its end has been dealt with, unless who waited for it got it.
 *
 * A transfer is described by a JSON object, here, in params of a wake and in the lists:
 *   id, session, url, label, continuation   as they were asked for
 *   upload        true, or false for a download
 *   state         "waiting", "active", "paused", "retrying", "done", "failed" or "cancelled"
 *   status        of HTTP, or 0
 *   headers       of the answer: a list of [name in lower case, value]
 *   body          what an upload was answered, as text; at most 16 KiB
 *   file          the absolute path: of what was sent, or where the download is
 *   bytes, total  carried so far, and in all; total is -1 while unknown
 *   fault         why it failed, or the last that went wrong: {"code", "message"}, or null
 *   kept          true if its end is kept for its session (bghost.wake/1); else it is not there
 * params of a wake: {"session": name, "transfers": [...], "more": whether list() has further ones}. */
#define BG_EXT_TRANSFER "bghost.transfer/1"

#define BG_RUN_WAKE 0x20000u /* of bg_run_info.flags: the transfers of a session have ended           */

/* A transfer: 26 letters and digits and NULs. It means the same to every later run. */
typedef struct bg_transfer {
  char id[32];
} bg_transfer;

typedef struct bg_transfer_request {
  uint32_t size, flags;       /* BG_TRANSFER_*                                                        */
  bg_str   session;           /* 1 to 128 of [A-Za-z0-9._-]                                           */
  bg_str   url;               /* http or https                                                        */
  bg_str   method;            /* "" is GET, or PUT for an upload, or POST with BG_TRANSFER_FORM       */
  bg_str   headers;           /* lines "Name: value\n", or ""                                         */
  bg_str   body;              /* of a download: at most 64 KiB, sent with each attempt                */
  bg_str   file;              /* absolute. Upload: what this plugin may read. Download: where it may  */
                              /* write; or "" for a place of the host's in data_dir                   */
  bg_str   form_field, form_name, form_type; /* with BG_TRANSFER_FORM; "" are "file", the file's own  */
                              /* name and "application/octet-stream"                                  */
  bg_str   digest;            /* of a download: the SHA-256 that it must have, 64 hex digits, or ""   */
  bg_str   continuation;      /* at most 64 KiB of UTF-8, as JSON has it, for the run of its end;     */
                              /* with headers and body at most 120 KiB                                */
  bg_str   label;             /* for people, at most 256 bytes, or ""                                 */
  int64_t  earliest_unix_ms;  /* not before; 0 is now                                                 */
  int64_t  max_bytes;         /* of the file; 0 is what tasks.json allows                             */
  int64_t  idle_timeout_ms;   /* without a byte; 0 is 60 s                                            */
  int64_t  total_timeout_ms;  /* with all attempts; 0 is 7 days                                       */
} bg_transfer_request;

#define BG_TRANSFER_UPLOAD        1u  /* send a file; else a download                                 */
#define BG_TRANSFER_FORM          2u  /* upload as a part of multipart/form-data                      */
#define BG_TRANSFER_RESUMABLE     4u  /* upload by tus 1.0.0 or the IETF's draft, where it is spoken  */
#define BG_TRANSFER_DISCRETIONARY 8u  /* wait for external power, an unmetered network and idleness   */
#define BG_TRANSFER_NO_WAKE       16u /* its end starts no run, but waits for one that asks           */

/* The end of a wait for a transfer. */
typedef struct bg_transfer_end {
  uint32_t  size;
  bg_status status;           /* BG_OK: the transfer has ended, well or not. BG_E_CANCELLED: the run  */
                              /* is to stop, and the transfer goes on without it                      */
  bg_str    transfer;         /* the JSON object, with BG_OK                                          */
} bg_transfer_end;

typedef struct bg_transfers {
  uint32_t size, reserved;
  /* [any] [waits] BG_OK once the transfer is stored; from then on it needs no run. If the session has a
   * transfer under way with the same method, URL, body, file and headers, *out is that transfer.
   * BG_E_PERM: tasks.json does not have the session, or does not let the plugin reach the host or
   * the file; the log says which. */
  bg_status (*begin)(const bg_host *, bg_run, const bg_transfer_request *, bg_transfer *out)
      BG_NOEXCEPT;
  /* [any] Waits for its end and returns at once. If the answer is BG_OK, `done` is called exactly once,
   * in the ways of bg_fetches.begin. Who gets an end this way has it: it is in no wake. A run that is
   * cancelled or over lets go of its transfers: they go on, and their session is told. */
  bg_status (*wait)(const bg_host *, bg_run, const bg_transfer *,
                     void (*done)(void *context, const bg_transfer_end *), void *context)
      BG_NOEXCEPT;
  /* [any] [waits] Ends a transfer of this plugin; BG_E_ABSENT if it is over or unknown. */
  bg_status (*cancel)(const bg_host *, const bg_transfer *) BG_NOEXCEPT;
  /* [any] [waits] A JSON array of the transfers of a session that are under way or not yet dealt with,
   * the oldest first, those after `after`, which may be 0: as many as fit. The buffer is as of
   * bg_host.param; BG_E_SMALL: not even one fits, and *need says what that one takes. */
  bg_status (*list)(const bg_host *, bg_str session, const bg_transfer *after, char *buffer,
                    size_t capacity, size_t *need) BG_NOEXCEPT;
  /* [any] [waits] An ended transfer has been dealt with: it is in no later wake. A wake run that
   * succeeds does this for all that it was told of and has not kept (bghost.wake/1). */
  bg_status (*acknowledge)(const bg_host *, const bg_transfer *) BG_NOEXCEPT;
} bg_transfers;

/* Ends that wait for their session. A wake run that succeeds deals with all that it was told of. A
 * handler that cannot say so of an end, because nothing in its process wanted it yet, keeps that end
 * back: it then waits, no longer than 7 days and over restarts, until a run claims what its session
 * has. What is kept starts no run. A host keeps at most 1000 such ends of a plugin and 16 MiB of what
 * is told of them; the oldest beyond that are dropped, and its log says so. */
#define BG_EXT_WAKE "bghost.wake/1"

typedef struct bg_wakes {
  uint32_t size, reserved;
  /* [any] [waits] This run does not take these ends, `count` of them in a row, at most 1024: if it
   * succeeds, they are kept. BG_E_ABSENT: it was not told of one of them, and this call keeps none. */
  bg_status (*keep)(const bg_host *, bg_run, const bg_transfer *, size_t count) BG_NOEXCEPT;
  /* [any] [waits] Hands over the ends that are kept for a session, and those of BG_TRANSFER_NO_WAKE: a
   * JSON array, the oldest first, as many as fit; an empty one says that there are no more. Until the
   * run is over no other run gets them. Those that it has not acknowledged by then wait again. The
   * buffer is as of bg_transfers.list; a call that only asks for the length hands over nothing. */
  bg_status (*claim)(const bg_host *, bg_run, bg_str session, char *buffer, size_t capacity,
                     size_t *need) BG_NOEXCEPT;
} bg_wakes;

/* Notifications: stored before post() answers, delivered by the task that tasks.json names, at least
 * once. What a person does with one starts a run of the plugin's handler "notificationAction", whose
 * params are {"id": of the notification, "action": of the action, "text": what was typed or null,
 * "userInfo": {...}}. */
#define BG_EXT_NOTIFY "bghost.notify/1"

#define BG_NOTIFY_PASSIVE        0u
#define BG_NOTIFY_ACTIVE         1u
#define BG_NOTIFY_TIME_SENSITIVE 2u
#define BG_NOTIFY_CRITICAL       3u

typedef struct bg_notification {
  uint32_t size;
  uint32_t level;             /* BG_NOTIFY_*                                                          */
  bg_str   id;                /* 1 to 128 bytes: a later one of this id takes its place               */
  bg_str   title, subtitle, body; /* at most 4 KiB together                                           */
  bg_str   thread, category;  /* for grouping; at most 128 bytes each, or ""                          */
  bg_str   user_info;         /* a JSON object of at most 4 KiB, or ""                                */
  bg_str   actions;           /* a JSON array of at most 8 {"id", "title"}, or ""                     */
  int64_t  at_unix_ms;        /* not before; 0 is now                                                 */
  int64_t  every_ms;          /* again each so many, at least 60 s; 0 is once                         */
  bg_str   calendar, time_zone; /* as in tasks.json: when to deliver, in place of the two above       */
} bg_notification;

typedef struct bg_notifier {
  uint32_t size, reserved;
  /* [any] [waits] BG_OK once it is stored for good; BG_E_PERM if tasks.json does not let this plugin
   * post. run may be 0. */
  bg_status (*post)(const bg_host *, bg_run, const bg_notification *) BG_NOEXCEPT;
  /* [any] [waits] Withdraws one that is not delivered yet; BG_E_ABSENT if there is none. */
  bg_status (*withdraw)(const bg_host *, bg_str id) BG_NOEXCEPT;
  /* [any] [waits] A JSON array of this plugin's notifications that are not delivered yet, each an
   * object with the names of bg_notification. The buffer is as of bg_host.param. */
  bg_status (*pending)(const bg_host *, char *buffer, size_t capacity, size_t *need) BG_NOEXCEPT;
} bg_notifier;

/* The host's clock. Offered by hosts whose time is not the machine's, such as those of tests: where
 * it is, bg_run_info.deadline_mono_ns is on it; where it is not, ask the machine. */
#define BG_EXT_CLOCK "bghost.clock/1"

typedef uint64_t bg_sleep; /* 0 is no sleep */

typedef struct bg_clock {
  uint32_t size, reserved;
  /* [any] Unix nanoseconds, which may be set to any time, and nanoseconds that only grow. Either
   * pointer may be 0. */
  bg_status (*now)(const bg_host *, int64_t *unix_ns, int64_t *mono_ns) BG_NOEXCEPT;
  /* [any] Begins a sleep and returns at once. If the answer is BG_OK, `done` is called exactly once,
   * in the ways of bg_fetches.begin: with BG_OK once that time has come, or with BG_E_CANCELLED if
   * the sleep was ended before, by wake() or with its run. out may be 0; *out is set before `done` is
   * called. */
  bg_status (*sleep)(const bg_host *, bg_run, int64_t until_mono_ns,
                     void (*done)(void *context, bg_sleep, bg_status), void *context,
                     bg_sleep *out) BG_NOEXCEPT;
  /* [any] Ends a sleep; its `done` still comes, with BG_E_CANCELLED unless it was over. */
  bg_status (*wake)(const bg_host *, bg_sleep) BG_NOEXCEPT;
} bg_clock;

#ifdef __cplusplus
}
#endif
#endif
