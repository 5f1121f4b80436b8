/* SPDX-License-Identifier: Apache-2.0
 *
 * bghost.hpp: plugins of bghost in C++17 and later. It wraps bghost.h, which says what each function does.
 *
 *   static std::string greet(bghost::Run &run) {
 *     return "{\"hello\":true}";
 *   }
 *   BGHOST_PLUGIN("org.example.hello", "1.0.0", "Example", bghost::handler<greet>("greet"));
 *
 * A handler is a function of a run that returns the result: JSON, or "". It runs on a thread of its own and may
 * block. What it throws never reaches the host:
 *   bghost::Cancelled        the run ends as cancelled
 *   bghost::Error            the run fails with the status and message of the error; see retry() and permanent()
 *   another std::exception   the run fails with what(); `retry` of the task decides about a retry
 *   anything else            the run fails
 * Functions of this header throw bghost::Error with the host's status, unless their comment says otherwise. They may
 * be called from any thread. Everything here is hidden from the dynamic linker, so that two plugins in one process
 * share nothing.
 *
 * The extensions bghost.main/1 and bghost.clock/1 are not wrapped: host() has the table. A compiler of C finds nothing
 * here: the SDK's module for Swift has all headers of this folder. */
#ifndef BGHOST_HPP
#define BGHOST_HPP
#ifdef __cplusplus

#include "bghost.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <typeinfo>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bghost __attribute__((visibility("hidden"))) {

using Milliseconds = std::chrono::milliseconds;
/* Unix time. */
using Instant = std::chrono::system_clock::time_point;

/* ---- errors ---------------------------------------------------------------------------------- */

/* A failure with a status of the ABI, BG_E_... . A handler that throws it fails with this status. */
class Error : public std::runtime_error {
 public:
  Error(bg_status status, const std::string &message, Milliseconds retryAfter = Milliseconds(0))
      : std::runtime_error(message), status_(status), retryAfter_(retryAfter) {}
  bg_status status() const noexcept { return status_; }
  /* The least delay of the next attempt, with BG_E_RETRY; 0: as `retry` of the task says. */
  Milliseconds retryAfter() const noexcept { return retryAfter_; }

 private:
  bg_status    status_;
  Milliseconds retryAfter_;
};

/* To be thrown by a handler that has stopped because the host cancelled its run. */
class Cancelled : public Error {
 public:
  Cancelled() : Error(BG_E_CANCELLED, "cancelled") {}
};

/* An error after which the host does not retry. */
inline Error permanent(const std::string &message) { return Error(BG_E_FINAL, message); }
/* An error after which the host retries, at the earliest after `delay`. */
inline Error retry(const std::string &message, Milliseconds delay = Milliseconds(0)) {
  return Error(BG_E_RETRY, message, delay);
}

/* The table of an extension as far as a function of it. */
#define BGHOST_TABLE_(Table, name, function) \
  ::bghost::detail::extension<Table>(name, offsetof(Table, function) + sizeof(Table::function))

namespace detail {

/* The latest table of the host (R5: it is immortal). */
inline std::atomic<const bg_host *> host{nullptr};

inline bg_str text(std::string_view text) noexcept { return {text.data(), text.size()}; }
inline std::string copy(bg_str text) { return text.len ? std::string(text.ptr, text.len) : std::string(); }
inline void check(bg_status status, const char *call) {
  if (status < 0) throw Error(status, std::string(call) + ": status " + std::to_string(status));
}
inline int64_t unixMilliseconds(std::optional<Instant> time) {
  if (!time) return 0;
  return std::chrono::duration_cast<Milliseconds>(time->time_since_epoch()).count();
}

/* An extension, or BG_E_ABSENT if the host lacks it or the function at this end of the table. A header of a later minor
 * may have functions behind it that this host does not know, and that the caller does not need. */
template <typename Table> const Table *extension(const char *name, size_t end) {
  const bg_host *host = detail::host.load();
  const void    *table = host ? host->extension(host, name) : nullptr;
  if (!table || *static_cast<const uint32_t *>(table) < end) {
    throw Error(BG_E_ABSENT, std::string("this host does not have ") + name);
  }
  return static_cast<const Table *>(table);
}

/* Calls a function that writes a text of unknown length into a buffer. */
template <typename Call> std::string grown(const char *name, Call call) {
  std::string buffer(512, '\0');
  for (;;) {
    size_t          need = 0;
    const bg_status status = call(&buffer[0], buffer.size(), &need);
    if (status != BG_E_SMALL) {
      check(status, name);
      buffer.resize(need);
      return buffer;
    }
    buffer.resize(need);
  }
}

/* Lets a thread wait for the one call of a `done`, and notice before it that the run is cancelled. */
class Signal {
 public:
  Signal() : descriptor_(eventfd(0, EFD_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(BG_E_FAILED, "cannot make an event descriptor");
  }
  ~Signal() { close(descriptor_); }
  Signal(const Signal &) = delete;
  Signal &operator=(const Signal &) = delete;
  /* The last access to this object by `done`: the waiting thread may free it as soon as this has written. */
  void send() const noexcept {
    /* The counter is 0, so the write cannot fail. */
    if (eventfd_write(descriptor_, 1) != 0) std::abort();
  }
  /* Returns at the signal, or before it if `cancel` (-1: none) becomes readable: whether the signal is there. */
  bool wait(int cancel) const noexcept {
    pollfd both[2] = {{descriptor_, POLLIN, 0}, {cancel, POLLIN, 0}};
    while (poll(both, 2, -1) < 0) {}
    return both[0].revents != 0;
  }

 private:
  int descriptor_;
};

template <size_t N> constexpr std::array<const bg_task *, N> pointers(const bg_task (&tasks)[N]) {
  std::array<const bg_task *, N> all{};
  for (size_t index = 0; index < N; index++) all[index] = &tasks[index];
  return all;
}

}  // namespace detail

/* ---- runs ------------------------------------------------------------------------------------ */

struct FetchRequest {
  std::string url;
  std::string method;   /* "": GET */
  std::string headers;  /* lines "Name: value\n" */
  std::string body;
  std::string bodyFile;
  int64_t     maxBytes = 0;      /* of the body of the response; 0: 1 MiB */
  Milliseconds timeout{0};       /* 0: 60 s */
  bool        sendsDigest = false;
};

struct FetchResponse {
  int         status = 0; /* of HTTP */
  std::string headers;    /* lines "name: value\n" */
  std::string body;
};

/* What identifies a run to servers. */
struct Identity {
  uint64_t    epoch = 0;
  std::string runID, idempotencyKey;
};

struct Request {
  std::string            taskID;
  std::string            parameters; /* a JSON object, or "" */
  std::optional<Instant> earliest;
  uint32_t               kind = 0, needs = 0; /* BG_KIND_*; BG_NEEDS_* and BG_SUBMIT_* */
};

struct Transfer {
  std::string            session, url, method, headers, body, file;
  std::string            formField, formName, formType, digest, continuation, label;
  std::optional<Instant> earliest;
  int64_t                maxBytes = 0;
  Milliseconds           idleTimeout{0}, totalTimeout{0};
  uint32_t               flags = 0; /* BG_TRANSFER_* */
};

struct Notification {
  std::string            id, title, subtitle, body, thread, category, userInfo, actions, calendar, timeZone;
  std::optional<Instant> at;
  Milliseconds           every{0};
  uint32_t               level = BG_NOTIFY_ACTIVE;
};

namespace detail {

inline bg_request lowered(const Request &request) {
  return {sizeof(bg_request), request.kind, text(request.taskID), text(request.parameters),
          unixMilliseconds(request.earliest), request.needs, 0};
}

}  // namespace detail

/* One call of a handler. It is valid until the handler returns. */
class Run {
 public:
  explicit Run(const bg_run_info &info) noexcept : info_(info), host_(detail::host.load()) {}
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  bg_run           number() const noexcept { return info_.run; }
  uint32_t         attempt() const noexcept { return info_.attempt; }
  std::string_view taskID() const noexcept { return view(info_.task_id); }
  /* The parameters: a JSON object. */
  std::string_view parameters() const noexcept { return view(info_.params); }
  /* The absolute path of the plugin's own folder, which is kept from run to run. */
  std::string dataDirectory() const { return detail::copy(info_.data_dir); }
  bool        isWake() const noexcept { return (info_.flags & BG_RUN_WAKE) != 0; }
  /* Becomes readable once the host cancels the run; to be polled only. -1: there is none. */
  int cancelDescriptor() const noexcept { return info_.cancel_fd; }

  /* Whether the handler is to stop; fast enough for inner loops. */
  bool isCancelled() const noexcept { return host_->cancelled(host_, info_.run) != BG_OK; }
  /* Throws Cancelled if the handler is to stop. */
  void checkCancelled() const {
    if (isCancelled()) throw Cancelled();
  }

  /* The two below never fail: the host drops what is too much. */
  void log(std::string_view message, uint32_t level = 2) const noexcept {
    host_->log(host_, info_.run, level, detail::text(message));
  }
  void progress(uint64_t done, uint64_t total, std::string_view phase = {}) const noexcept {
    host_->progress(host_, info_.run, done, total, detail::text(phase));
  }

  /* The parameter at a JSON pointer, such as "/limit", as text; nothing if there is none. */
  std::optional<std::string> parameter(std::string_view pointer) const {
    size_t need = 0;
    if (host_->param(host_, info_.run, detail::text(pointer), nullptr, 0, &need) == BG_E_ABSENT) return {};
    return detail::grown("param", [&](char *buffer, size_t capacity, size_t *length) {
      return host_->param(host_, info_.run, detail::text(pointer), buffer, capacity, length);
    });
  }

  /* Makes a request of HTTP, and waits for its end. Throws Cancelled if the host cancels the run meanwhile, and
   * Error without a response; a status such as 404 is a response. */
  FetchResponse fetch(const FetchRequest &request) const {
    struct Wait {
      detail::Signal     signal;
      FetchResponse      response;
      std::string        message;
      std::exception_ptr failure;
      bg_status          status = BG_E_FAILED;
    } wait;
    const auto *table = BGHOST_TABLE_(bg_fetches, BG_EXT_FETCH, cancel);
    const bg_fetch_request raw = {
        sizeof raw, request.sendsDigest ? BG_FETCH_DIGEST : 0, detail::text(request.url),
        detail::text(request.method), detail::text(request.headers), detail::text(request.body),
        detail::text(request.bodyFile), request.maxBytes, request.timeout.count()};
    const auto done = [](void *context, bg_fetch, const bg_fetch_result *result) noexcept {
      Wait &wait = *static_cast<Wait *>(context);
      wait.status = result->status;
      try {
        wait.response = {result->http_status, detail::copy(result->headers), detail::copy(result->body)};
        wait.message = detail::copy(result->message);
      } catch (...) {
        wait.failure = std::current_exception(); /* no memory */
      }
      wait.signal.send();
    };
    bg_fetch fetch = 0;
    detail::check(table->begin(host_, info_.run, &raw, done, &wait, &fetch), "fetch");
    if (!wait.signal.wait(info_.cancel_fd)) {
      /* `done` is still called, also if the fetch has just ended. */
      table->cancel(host_, fetch);
      wait.signal.wait(-1);
    }
    if (wait.failure) std::rethrow_exception(wait.failure);
    if (wait.status == BG_OK) return std::move(wait.response);
    if (wait.status == BG_E_CANCELLED) throw Cancelled();
    throw Error(wait.status, wait.message);
  }

  /* Submits a request for a task that this plugin may submit, in the name of this run. */
  void submit(const Request &request) const {
    const auto *table = BGHOST_TABLE_(bg_runs, BG_EXT_RUN, submit);
    const bg_request raw = detail::lowered(request);
    detail::check(table->submit(host_, info_.run, &raw), "submit");
  }

  Identity identity() const {
    const auto *table = BGHOST_TABLE_(bg_runs, BG_EXT_RUN, identity);
    bg_run_identity raw = {};
    raw.size = sizeof raw;
    detail::check(table->identity(host_, info_.run, &raw), "identity");
    return {raw.epoch, raw.run_id, raw.idempotency_key};
  }

  /* Saves bytes for the next attempt of the run's request, instead of those that were saved before; none deletes
   * them. At most BG_CHECKPOINT_MAX. */
  void checkpoint(std::string_view bytes) const {
    const auto *table = BGHOST_TABLE_(bg_checkpoints, BG_EXT_CHECKPOINT, save);
    detail::check(table->save(host_, info_.run, bytes.data(), bytes.size()), "checkpoint");
  }
  /* What an earlier attempt or this run has saved; nothing if nothing is saved. */
  std::optional<std::string> savedCheckpoint() const {
    const auto *table = BGHOST_TABLE_(bg_checkpoints, BG_EXT_CHECKPOINT, load);
    std::string     buffer(BG_CHECKPOINT_MAX, '\0');
    size_t          length = 0;
    const bg_status status = table->load(host_, info_.run, &buffer[0], buffer.size(), &length);
    if (status == BG_E_ABSENT) return {};
    detail::check(status, "checkpoint");
    buffer.resize(length);
    return buffer;
  }

  /* The place of this run in a trace, for requests that the plugin makes itself; nothing if it has none. */
  std::optional<bg_trace_context> trace() const {
    const auto *table = BGHOST_TABLE_(bg_traces, BG_EXT_TRACE, context);
    bg_trace_context raw = {};
    raw.size = sizeof raw;
    const bg_status status = table->context(host_, info_.run, &raw);
    if (status == BG_E_ABSENT) return {};
    detail::check(status, "trace");
    return raw;
  }

  /* The missed starts that this run makes up for. */
  bg_missed missed() const {
    const auto *table = BGHOST_TABLE_(bg_statuses, BG_EXT_STATUS, missed);
    bg_missed raw = {};
    raw.size = sizeof raw;
    detail::check(table->missed(host_, info_.run, &raw), "missed");
    return raw;
  }

  /* Starts a transfer, which outlives the run, and returns its id. */
  bg_transfer begin(const Transfer &transfer) const {
    using detail::text;
    const auto *table = BGHOST_TABLE_(bg_transfers, BG_EXT_TRANSFER, begin);
    const bg_transfer_request raw = {
        sizeof raw, transfer.flags, text(transfer.session), text(transfer.url), text(transfer.method),
        text(transfer.headers), text(transfer.body), text(transfer.file), text(transfer.formField),
        text(transfer.formName), text(transfer.formType), text(transfer.digest), text(transfer.continuation),
        text(transfer.label), detail::unixMilliseconds(transfer.earliest), transfer.maxBytes,
        transfer.idleTimeout.count(), transfer.totalTimeout.count()};
    bg_transfer id = {};
    detail::check(table->begin(host_, info_.run, &raw, &id), "transfer");
    return id;
  }

  /* Waits for the end of a transfer, and returns the JSON object that describes it. Throws Cancelled if the host
   * cancels the run first; the transfer then goes on. */
  std::string wait(const bg_transfer &transfer) const {
    struct Wait {
      detail::Signal     signal;
      std::string        end;
      std::exception_ptr failure;
      bg_status          status = BG_E_FAILED;
    } wait;
    const auto done = [](void *context, const bg_transfer_end *end) noexcept {
      Wait &wait = *static_cast<Wait *>(context);
      wait.status = end->status;
      try {
        wait.end = detail::copy(end->transfer);
      } catch (...) {
        wait.failure = std::current_exception();
      }
      wait.signal.send();
    };
    const auto *table = BGHOST_TABLE_(bg_transfers, BG_EXT_TRANSFER, wait);
    detail::check(table->wait(host_, info_.run, &transfer, done, &wait), "wait");
    wait.signal.wait(-1);
    if (wait.failure) std::rethrow_exception(wait.failure);
    if (wait.status == BG_E_CANCELLED) throw Cancelled();
    detail::check(wait.status, "wait");
    return std::move(wait.end);
  }

  /* In a wake: keeps ends for a later run. */
  void keep(const std::vector<bg_transfer> &ends) const {
    const auto *table = BGHOST_TABLE_(bg_wakes, BG_EXT_WAKE, keep);
    detail::check(table->keep(host_, info_.run, ends.data(), ends.size()), "keep");
  }
  /* Claims kept ends of a session: a JSON array; an empty one if there are no more. */
  std::string claim(std::string_view session) const {
    const auto *table = BGHOST_TABLE_(bg_wakes, BG_EXT_WAKE, claim);
    return detail::grown("claim", [&](char *buffer, size_t capacity, size_t *need) {
      return table->claim(host_, info_.run, detail::text(session), buffer, capacity, need);
    });
  }

  void post(const Notification &note) const {
    using detail::text;
    const auto *table = BGHOST_TABLE_(bg_notifier, BG_EXT_NOTIFY, post);
    const bg_notification raw = {
        sizeof raw, note.level, text(note.id), text(note.title), text(note.subtitle), text(note.body),
        text(note.thread), text(note.category), text(note.userInfo), text(note.actions),
        detail::unixMilliseconds(note.at), note.every.count(), text(note.calendar), text(note.timeZone)};
    detail::check(table->post(host_, info_.run, &raw), "post");
  }

 private:
  static std::string_view view(bg_str text) noexcept { return {text.ptr, text.len}; }

  const bg_run_info &info_;
  const bg_host     *host_;
};

/* ---- what needs no run ----------------------------------------------------------------------- */

/* The host's table, for what this header does not wrap; 0 before the entry function was called. */
inline const bg_host *host() noexcept { return detail::host.load(); }

/* Withdraws the pending request of a task; false: there is none. */
inline bool cancelRequest(std::string_view taskID) {
  const auto *table = BGHOST_TABLE_(bg_schedule, BG_EXT_SCHEDULE, cancel);
  const bg_status status = table->cancel(host(), detail::text(taskID));
  if (status != BG_E_ABSENT) detail::check(status, "cancel");
  return status == BG_OK;
}
inline void cancelAllRequests() {
  const auto *table = BGHOST_TABLE_(bg_schedule, BG_EXT_SCHEDULE, cancel_all);
  detail::check(table->cancel_all(host()), "cancel_all");
}
/* The pending requests of the tasks that this plugin handles. */
inline std::vector<bg_pending> pendingRequests() {
  const auto *table = BGHOST_TABLE_(bg_schedule, BG_EXT_SCHEDULE, pending);
  for (size_t capacity = 16;; capacity *= 4) {
    std::vector<bg_pending> all(capacity);
    all[0].size = sizeof(bg_pending);
    size_t total = 0;
    detail::check(table->pending(host(), all.data(), capacity, &total), "pending");
    if (total > capacity) continue;
    all.resize(total);
    return all;
  }
}

/* Whether background work of this plugin may start. */
inline bg_refresh refreshStatus() {
  const auto *table = BGHOST_TABLE_(bg_statuses, BG_EXT_STATUS, refresh);
  bg_refresh raw = {};
  raw.size = sizeof raw;
  detail::check(table->refresh(host(), &raw), "refresh");
  return raw;
}

/* Cancels a transfer; false: it has ended or is unknown. */
inline bool cancelTransfer(const bg_transfer &transfer) {
  const auto *table = BGHOST_TABLE_(bg_transfers, BG_EXT_TRANSFER, cancel);
  const bg_status status = table->cancel(host(), &transfer);
  if (status != BG_E_ABSENT) detail::check(status, "cancel");
  return status == BG_OK;
}
/* The transfers of a session, as a JSON array; with `after`, only those after that one. */
inline std::string transfers(std::string_view session, const bg_transfer *after = nullptr) {
  const auto *table = BGHOST_TABLE_(bg_transfers, BG_EXT_TRANSFER, list);
  return detail::grown("list", [&](char *buffer, size_t capacity, size_t *need) {
    return table->list(host(), detail::text(session), after, buffer, capacity, need);
  });
}
inline void acknowledge(const bg_transfer &transfer) {
  const auto *table = BGHOST_TABLE_(bg_transfers, BG_EXT_TRANSFER, acknowledge);
  detail::check(table->acknowledge(host(), &transfer), "acknowledge");
}

/* Withdraws a notification; false: it is delivered or unknown. */
inline bool withdrawNotification(std::string_view id) {
  const auto *table = BGHOST_TABLE_(bg_notifier, BG_EXT_NOTIFY, withdraw);
  const bg_status status = table->withdraw(host(), detail::text(id));
  if (status != BG_E_ABSENT) detail::check(status, "withdraw");
  return status == BG_OK;
}

/* ---- the plugin's table ---------------------------------------------------------------------- */

namespace detail {

/* Ends a run that has failed; the answer is that of start(). It allocates nothing. */
inline bg_status fail(bg_run run, bg_status status, const char *message, Milliseconds delay = Milliseconds(0)) noexcept {
  const bg_host *host = detail::host.load();
  /* Those of calls, such as BG_E_PERM, are no status of a run. */
  if (status > BG_E_FAILED || status < BG_E_FINAL) status = BG_E_FAILED;
  bg_result result = {sizeof result, status, text(message), {nullptr, 0}, delay.count()};
  bg_status accepted = host->complete(host, run, &result);
  if (accepted == BG_E_ARG) {
    result.message = text("the message of the error is not UTF-8");
    accepted = host->complete(host, run, &result);
  }
  return accepted == BG_OK || accepted == BG_E_STALE ? BG_PENDING : status;
}

/* Says of which type the exception is that the run fails with. The compiler may leave types out: -fno-rtti. */
inline void describe(bg_run run, const std::exception &error) noexcept {
#if defined(__cpp_rtti) || defined(__GXX_RTTI)
  const bg_host *host = detail::host.load();
  const void    *table = host->extension(host, BG_EXT_RUN);
  if (!table || *static_cast<const uint32_t *>(table) < offsetof(bg_runs, error) + sizeof(bg_runs::error)) return;
  int         status = 0;
  char       *name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
  bg_run_error described = {sizeof described, 0, text(name ? name : typeid(error).name()), {nullptr, 0}};
  static_cast<const bg_runs *>(table)->error(host, run, &described);
  std::free(name);
#else
  (void)run;
  (void)error;
#endif
}

/* The boundary: nothing leaves it but a status. */
template <auto Function> bg_status start(void *, const bg_run_info *info) noexcept {
  try {
    Run               run(*info);
    const std::string json = Function(run);
    const bg_host    *host = detail::host.load();
    const bg_result   result = {sizeof result, BG_OK, {nullptr, 0}, text(json), 0};
    const bg_status   accepted = host->complete(host, info->run, &result);
    if (accepted == BG_OK || accepted == BG_E_STALE) return BG_PENDING;
    return fail(info->run, BG_E_FAILED,
                accepted == BG_E_LIMIT ? "the result is too long" : "the result is not JSON");
  } catch (const Error &error) {
    if (error.status() != BG_E_CANCELLED) describe(info->run, error);
    return fail(info->run, error.status(), error.what(), error.retryAfter());
  } catch (const std::exception &error) {
    describe(info->run, error);
    return fail(info->run, BG_E_FAILED, error.what());
  } catch (...) {
    return fail(info->run, BG_E_FAILED, "an exception that is no std::exception");
  }
}

}  // namespace detail

/* A handler of a plugin.
 *
 *   name      its name in tasks.json
 *   schema    a literal: the JSON Schema of its parameters; "": any
 *   flags     BG_TASK_*, besides BG_TASK_MAY_BLOCK */
template <auto Function>
constexpr bg_task handler(std::string_view name, std::string_view schema = {}, uint32_t flags = 0) {
  return {sizeof(bg_task), flags | BG_TASK_MAY_BLOCK, {name.data(), name.size()},
          {schema.data(), schema.size()}, detail::start<Function>, nullptr, nullptr};
}

}  // namespace bghost

#undef BGHOST_TABLE_

/* The plugin, from literals and handlers; once, outside of any namespace. It checks parameters against the schemas
 * before a run, as params=checked in the note of bghost.h. */
#define BGHOST_PLUGIN(id_, version_, vendor_, ...)                                                       \
  BG_NOTE("abi=1.0;id=" id_ ";runtime=c++;params=checked");                                              \
  static constexpr bg_task bghost_tasks_[] = {__VA_ARGS__};                                              \
  static constexpr auto    bghost_pointers_ = ::bghost::detail::pointers(bghost_tasks_);                 \
  static constexpr bg_plugin bghost_table_ = {                                                           \
      sizeof(bg_plugin), BG_ABI_MAJOR, 0, BG_LIT(id_), BG_LIT(version_), BG_LIT(vendor_), 0,             \
      static_cast<uint32_t>(bghost_pointers_.size()), bghost_pointers_.data(), nullptr, nullptr, nullptr}; \
  const bg_plugin *bghost_plugin_v1(const bg_host *given) noexcept {                                     \
    ::bghost::detail::host.store(given);                                                                 \
    return &bghost_table_;                                                                               \
  }                                                                                                      \
  static_assert(true, "a semicolon follows")

#endif
#endif
