/* The functions of abi.c that Go calls, or names in the table. */
#include <bghost.h>

bg_status bghost_start(void *plugin, const bg_run_info *info);
void      bghost_cancel(void *plugin, bg_run run, void *state, uint32_t why);
bg_status bghost_complete(const void *table, bg_run run, bg_status status, int64_t retry_after_ms,
                          const char *message, size_t message_length, const char *payload,
                          size_t payload_length);
void      bghost_log(const void *table, bg_run run, uint32_t level, const char *text, size_t length);
void      bghost_progress(const void *table, bg_run run, uint64_t done, uint64_t total,
                          const char *phase, size_t length);
