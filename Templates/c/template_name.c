/* A plugin of bghost: counts the prime numbers up to a limit. */
#include <bghost.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

BG_NOTE("abi=1.0;id=org.example.template-name;runtime=c;params=checked");

static const bg_host *host;

static bg_status fail(const bg_run_info *info, bg_status status, bg_str message) {
  bg_result result = { sizeof result, status, message, { 0, 0 }, 0 };
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : status;
}

/* Reads the parameter `limit`; it stays as it is if there is none. Parameters come from the manifest
 * and from requests: check them. */
static int read_limit(const bg_run_info *info, long *limit) {
  char      text[24], *end;
  size_t    length;
  bg_status status =
      host->param(host, info->run, (bg_str)BG_LIT("/limit"), text, sizeof text - 1, &length);
  if (status == BG_E_ABSENT) return 1;
  if (status != BG_OK || length == 0) return 0;
  text[length] = 0;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (errno != 0 || end != text + length || number < 2 || number > 100000000) return 0;
  *limit = number;
  return 1;
}

static int is_prime(long number) {
  if (number % 2 == 0) return number == 2;
  for (long divisor = 3; divisor * divisor <= number; divisor += 2)
    if (number % divisor == 0) return 0;
  return 1;
}

/* One run. It may block, as BG_TASK_MAY_BLOCK says; runs may overlap, so it keeps nothing in globals. */
static bg_status count_primes(void *plugin, const bg_run_info *info) {
  long limit = 1000000, count = 0, largest = 0;
  char json[80];
  (void)plugin;
  if (!read_limit(info, &limit)) /* BG_E_FINAL: another attempt would fail too */
    return fail(info, BG_E_FINAL, (bg_str)BG_LIT("`limit` must be an integer of 2 to 100000000"));
  host->log(host, info->run, 2, (bg_str)BG_LIT("counting"));
  for (long number = 2; number <= limit; number++) {
    if (number % 1024 == 0) {
      if (host->cancelled(host, info->run) != BG_OK) return BG_E_CANCELLED;
      host->progress(host, info->run, (uint64_t)number, (uint64_t)limit, (bg_str)BG_LIT("counting"));
    }
    if (is_prime(number)) {
      count++;
      largest = number;
    }
  }
  int length = snprintf(json, sizeof json, "{\"count\":%ld,\"largest\":%ld}", count, largest);
  bg_result result = { sizeof result, BG_OK, { 0, 0 }, { json, (size_t)length }, 0 };
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"limit\":"
    "{\"type\":\"integer\",\"minimum\":2,\"maximum\":100000000}}}";
static const bg_task primes = { sizeof primes, BG_TASK_MAY_BLOCK, BG_LIT("primes"),
                                { schema, sizeof schema - 1 }, count_primes, 0, 0 };
static const bg_task *const tasks[] = { &primes };
static const bg_plugin plugin = { sizeof plugin, BG_ABI_MAJOR, 0, BG_LIT("org.example.template-name"),
                                  BG_LIT("0.1.0"), BG_LIT("Example"), 0,
                                  sizeof tasks / sizeof *tasks, tasks, 0, 0, 0 };

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin;
}
