/* SPDX-License-Identifier: Apache-2.0
 * Uses bghost.trace/1 as handlers do. */
#include "misbehave.h"

BG_NOTE("abi=1.0;id=test.trace;runtime=c");

/* succeeded, with the trace of the run as the result, or null if it has none; the log has what the host
 * answers to a struct that is too small, and to a run that does not exist */
HANDLER(context) {
  (void)plugin;
  const bg_traces *traces = host->extension(host, BG_EXT_TRACE);
  if (traces == 0) return BG_E_ABSENT;
  bg_trace_context small = { .size = sizeof small - 1 }, strange = { .size = sizeof strange };
  bg_trace_context own = { .size = sizeof own };
  char line[64], json[700];
  snprintf(line, sizeof line, "small %d, strange %d",
           traces->context(host, info->run, &small),
           traces->context(host, info->run + (1 << 20), &strange));
  say(info->run, line);
  bg_status status = traces->context(host, info->run, &own);
  if (status == BG_OK)
    snprintf(json, sizeof json, "{\"parent\":\"%s\",\"state\":\"%s\"}", own.traceparent, own.tracestate);
  else
    snprintf(json, sizeof json, "%s", status == BG_E_ABSENT ? "null" : "\"failed\"");
  finish(info->run, BG_OK, TEXT(""), (bg_str){ json, strlen(json) });
  return BG_PENDING;
}

/* succeeded if the host takes a request for the task `context` */
HANDLER(submit_context) {
  (void)plugin, (void)info;
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  bg_request request = { .size = sizeof request, .task_id = BG_LIT("context") };
  return schedule->submit(host, &request);
}

static void fetched(void *context, bg_fetch fetch, const bg_fetch_result *result) {
  (void)fetch;
  finish((bg_run)(uintptr_t)context, result->status == BG_OK ? BG_OK : BG_E_FAILED, TEXT(""), NOTHING);
}

/* succeeded if a fetch of the parameter `url` with the lines of the parameter `headers` has an answer */
HANDLER(fetch) {
  (void)plugin;
  const bg_fetches *fetches = host->extension(host, BG_EXT_FETCH);
  char   url[256] = "", headers[256] = "";
  size_t url_length = 0, headers_length = 0;
  host->param(host, info->run, TEXT("/url"), url, sizeof url - 1, &url_length);
  if (host->param(host, info->run, TEXT("/headers"), headers, sizeof headers - 1, &headers_length) != BG_OK)
    headers_length = 0;
  bg_fetch_request request = { .size = sizeof request, .url = { url, url_length } };
  request.headers = (bg_str){ headers, headers_length };
  return fetches->begin(host, info->run, &request, fetched, (void *)(uintptr_t)info->run, 0) == BG_OK
             ? BG_PENDING
             : BG_E_FAILED;
}

#define TASK(name, start)                                                                          \
  &(const bg_task) {                                                                               \
    sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(name), { 0, 0 }, start, 0, 0                        \
  }

static const bg_task *const tasks[] = { TASK("context", context), TASK("submit", submit_context),
                                        TASK("fetch", fetch) };

static const bg_plugin plugin_table = {
  sizeof plugin_table, BG_ABI_MAJOR, 0, BG_LIT("test.trace"), BG_LIT("1.2.3"),
  BG_LIT("Fixtures"),  0,            sizeof tasks / sizeof *tasks, tasks, 0, 0, 0,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin_table;
}
