/* SPDX-License-Identifier: Apache-2.0
 * A plugin whose table says which parameters its handlers take. VERSION 2 asks for more, and with
 * NOTHING_CHECKED its note does not ask the host to check them. */
#include <bghost.h>
#include <stdio.h>
#include <string.h>

#ifdef NOTHING_CHECKED
BG_NOTE("abi=1.0;id=test.schemas;runtime=c");
#else
BG_NOTE("abi=1.0;id=test.schemas;runtime=c;params=checked");
#endif

static const bg_host *host;

static const char strict_schema[] =
#if VERSION == 2
    "{\"type\":\"object\",\"required\":[\"path\",\"owner\"]}";
#else
    "{\"type\":\"object\",\"required\":[\"path\"],\"additionalProperties\":false,\"properties\":{"
    "\"path\":{\"type\":\"string\",\"minLength\":1},"
    "\"retries\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10},"
    "\"mode\":{\"enum\":[\"fast\",\"small\"]},"
    "\"tree\":{\"$ref\":\"#/$defs/tree\"}},"
    "\"$defs\":{\"tree\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#/$defs/tree\"}}}}";
#endif

static bg_status complete(const bg_run_info *info, bg_str payload) {
  bg_result result = { sizeof result, BG_OK, { 0, 0 }, payload, 0 };
  return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

static bg_status echo(void *plugin, const bg_run_info *info) {
  (void)plugin;
  return complete(info, info->params);
}

/* Its schema says object; it wants an array. */
static bg_status lie(void *plugin, const bg_run_info *info) {
  char   text[8];
  size_t length;
  (void)plugin;
  bg_status status = host->param(host, info->run, (bg_str)BG_LIT("/items/0"), text, sizeof text, &length);
  return status == BG_OK ? BG_OK : BG_E_FINAL;
}

/* Submits `strict` with its own parameter `params`, and returns the status. */
static bg_status submit(void *plugin, const bg_run_info *info) {
  char               params[1024], json[32];
  size_t             length = 0;
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  (void)plugin;
  if (!schedule
      || host->param(host, info->run, (bg_str)BG_LIT("/params"), params, sizeof params, &length) != BG_OK)
    return BG_E_FAILED;
  bg_request request = { sizeof request, 0, BG_LIT("strict"), { params, length }, 0, 0, 0 };
  int        count = snprintf(json, sizeof json, "{\"status\":%d}", schedule->submit(host, &request));
  return complete(info, (bg_str){ json, (size_t)count });
}

#define SCHEMA(text) { (text), sizeof(text) - 1 }

static const bg_task strict_task = { sizeof strict_task, BG_TASK_MAY_BLOCK, BG_LIT("strict"),
                                     SCHEMA(strict_schema), echo, 0, 0 };
static const bg_task free_task = { sizeof free_task, BG_TASK_MAY_BLOCK, BG_LIT("free"), { 0, 0 }, echo, 0, 0 };
static const bg_task lie_task = { sizeof lie_task, BG_TASK_MAY_BLOCK, BG_LIT("lie"),
                                  SCHEMA("{\"properties\":{\"items\":{\"type\":\"object\"}}}"), lie, 0, 0 };
static const bg_task broken_task = { sizeof broken_task, BG_TASK_MAY_BLOCK, BG_LIT("broken"),
                                     SCHEMA("{\"typ\":\"object\"}"), echo, 0, 0 };
static const bg_task submit_task = { sizeof submit_task, BG_TASK_MAY_BLOCK, BG_LIT("submit"), { 0, 0 },
                                     submit, 0, 0 };
static const bg_task *const tasks[] = { &strict_task, &free_task, &lie_task, &broken_task, &submit_task };
static const bg_plugin plugin = { sizeof plugin, BG_ABI_MAJOR, 0, BG_LIT("test.schemas"), BG_LIT("1"),
                                  BG_LIT("Test"), 0, sizeof tasks / sizeof *tasks, tasks, 0, 0, 0 };

BG_EXPORT const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin;
}
