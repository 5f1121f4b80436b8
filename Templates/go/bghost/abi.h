/* The functions of abi.c that Go calls, or names in the table. */
#include <bghost.h>

bg_status bghost_start(void *plugin, const bg_run_info *info);
void      bghost_cancel(void *plugin, bg_run run, void *state, uint32_t why);
bg_status bghost_complete(const void *table, bg_run run, bg_status status, int64_t retry_after_ms,
                          const char *message, size_t message_length, const char *payload,
                          size_t payload_length);
void      bghost_error(const void *table, bg_run run, const char *type_name, size_t length);
void      bghost_log(const void *table, bg_run run, uint32_t level, const char *text, size_t length);
void      bghost_progress(const void *table, bg_run run, uint64_t done, uint64_t total,
                          const char *phase, size_t length);
bg_status bghost_submit(const void *table, bg_run run, const char *task, size_t task_length,
                        const char *params, size_t params_length, int64_t earliest_unix_ms);
bg_status bghost_fetch(const void *table, bg_run run, const char *url, size_t url_length,
                       const char *method, size_t method_length, const char *header,
                       size_t header_length, const char *body, size_t body_length, int64_t max_bytes,
                       int64_t timeout_ms, uintptr_t handle, bg_fetch *fetch);
void      bghost_fetch_cancel(const void *table, bg_fetch fetch);
