/* The part of the binding that must be C: the note, the entry, and functions whose types have `const`,
 * which exported Go functions cannot have. */
#include "_cgo_export.h"
#include "abi.h"
#include <time.h>

/* What the host reads before it loads the plugin. */
BG_NOTE("abi=1.0;runtime=go;params=checked");

/* The runtime of Go begins with a thread of its own while the library is loaded; this waits for it. */
const bg_plugin *bghost_plugin_v1(const bg_host *host) { return bghostEnter((void *)host); }

bg_status bghost_start(void *plugin, const bg_run_info *info) {
  struct timespec now;
  (void)plugin;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return bghostStart((void *)info, now.tv_sec * 1000000000ll + now.tv_nsec);
}

void bghost_cancel(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin, (void)state;
  bghostCancel(run, why);
}

bg_status bghost_complete(const void *table, bg_run run, bg_status status, int64_t retry_after_ms,
                          const char *message, size_t message_length, const char *payload,
                          size_t payload_length) {
  const bg_host *host = table;
  bg_result result = { sizeof result, status, { message, message_length }, { payload, payload_length },
                       retry_after_ms };
  return host->complete(host, run, &result);
}

void bghost_error(const void *table, bg_run run, const char *type_name, size_t length) {
  const bg_host     *host = table;
  const bg_runs     *runs = host->extension(host, BG_EXT_RUN);
  const bg_run_error error = { sizeof error, 0, { type_name, length }, { 0, 0 } };
  if (runs && runs->size >= offsetof(bg_runs, error) + sizeof runs->error) runs->error(host, run, &error);
}

void bghost_log(const void *table, bg_run run, uint32_t level, const char *text, size_t length) {
  const bg_host *host = table;
  host->log(host, run, level, (bg_str){ text, length });
}

void bghost_progress(const void *table, bg_run run, uint64_t done, uint64_t total, const char *phase,
                     size_t length) {
  const bg_host *host = table;
  host->progress(host, run, done, total, (bg_str){ phase, length });
}

bg_status bghost_submit(const void *table, bg_run run, const char *task, size_t task_length,
                        const char *params, size_t params_length, int64_t earliest_unix_ms) {
  const bg_host *host = table;
  const bg_runs *runs = host->extension(host, BG_EXT_RUN);
  bg_request     request = { sizeof request, 0, { task, task_length }, { params, params_length },
                             earliest_unix_ms, 0, 0 };
  return runs ? runs->submit(host, run, &request) : BG_E_ABSENT;
}

static void fetched(void *context, bg_fetch fetch, const bg_fetch_result *result) {
  (void)fetch;
  bghostFetched((uintptr_t)context, (void *)result);
}

bg_status bghost_fetch(const void *table, bg_run run, const char *url, size_t url_length,
                       const char *method, size_t method_length, const char *header,
                       size_t header_length, const char *body, size_t body_length, int64_t max_bytes,
                       int64_t timeout_ms, uintptr_t handle, bg_fetch *fetch) {
  const bg_host    *host = table;
  const bg_fetches *fetches = host->extension(host, BG_EXT_FETCH);
  bg_fetch_request  request = { sizeof request, 0, { url, url_length }, { method, method_length },
                                { header, header_length }, { body, body_length }, { 0, 0 }, max_bytes,
                                timeout_ms };
  return fetches ? fetches->begin(host, run, &request, fetched, (void *)handle, fetch) : BG_E_ABSENT;
}

void bghost_fetch_cancel(const void *table, bg_fetch fetch) {
  const bg_host    *host = table;
  const bg_fetches *fetches = host->extension(host, BG_EXT_FETCH);
  if (fetches) fetches->cancel(host, fetch);
}
