/* SPDX-License-Identifier: Apache-2.0
 * Where each field of ABI 1.0 lies, on every machine. No number in this file may ever change:
 * plugins that were built against them are in use. A later minor appends to a struct and raises its
 * size here, and nothing else. */
#include "bghost.h"

#ifdef __cplusplus
#define HOLDS(condition) static_assert(condition, #condition)
#else
#define HOLDS(condition) _Static_assert(condition, #condition)
#endif
#define FIELD(type, field, offset) HOLDS(offsetof(type, field) == (offset))

HOLDS(sizeof(bg_str) == 16);
FIELD(bg_str, ptr, 0);
FIELD(bg_str, len, 8);

HOLDS(sizeof(bg_result) == 48);
FIELD(bg_result, size, 0);
FIELD(bg_result, status, 4);
FIELD(bg_result, message, 8);
FIELD(bg_result, payload, 24);
FIELD(bg_result, retry_after_ms, 40);

HOLDS(sizeof(bg_run_info) == 96);
FIELD(bg_run_info, size, 0);
FIELD(bg_run_info, attempt, 4);
FIELD(bg_run_info, run, 8);
FIELD(bg_run_info, task_id, 16);
FIELD(bg_run_info, params, 32);
FIELD(bg_run_info, data_dir, 48);
FIELD(bg_run_info, deadline_mono_ns, 64);
FIELD(bg_run_info, grace_ms, 72);
FIELD(bg_run_info, max_result, 76);
FIELD(bg_run_info, cancel_fd, 80);
FIELD(bg_run_info, flags, 84);
FIELD(bg_run_info, task, 88);

HOLDS(sizeof(bg_host) == 104);
FIELD(bg_host, size, 0);
FIELD(bg_host, abi_major, 4);
FIELD(bg_host, abi_minor, 6);
FIELD(bg_host, ctx, 8);
FIELD(bg_host, name, 16);
FIELD(bg_host, version, 32);
FIELD(bg_host, complete, 48);
FIELD(bg_host, cancelled, 56);
FIELD(bg_host, set_state, 64);
FIELD(bg_host, progress, 72);
FIELD(bg_host, log, 80);
FIELD(bg_host, param, 88);
FIELD(bg_host, extension, 96);

HOLDS(sizeof(bg_task) == 64);
FIELD(bg_task, size, 0);
FIELD(bg_task, flags, 4);
FIELD(bg_task, handler, 8);
FIELD(bg_task, params_schema, 24);
FIELD(bg_task, start, 40);
FIELD(bg_task, cancel, 48);
FIELD(bg_task, release, 56);

HOLDS(sizeof(bg_plugin) == 96);
FIELD(bg_plugin, size, 0);
FIELD(bg_plugin, abi_major, 4);
FIELD(bg_plugin, min_host_minor, 6);
FIELD(bg_plugin, id, 8);
FIELD(bg_plugin, version, 24);
FIELD(bg_plugin, vendor, 40);
FIELD(bg_plugin, flags, 56);
FIELD(bg_plugin, n_tasks, 60);
FIELD(bg_plugin, tasks, 64);
FIELD(bg_plugin, open, 72);
FIELD(bg_plugin, drain, 80);
FIELD(bg_plugin, close, 88);

HOLDS(sizeof(bg_request) == 56);
FIELD(bg_request, size, 0);
FIELD(bg_request, kind, 4);
FIELD(bg_request, task_id, 8);
FIELD(bg_request, params, 24);
FIELD(bg_request, earliest_unix_ms, 40);
FIELD(bg_request, needs, 48);
FIELD(bg_request, reserved, 52);

HOLDS(sizeof(bg_run_identity) == 112);
FIELD(bg_run_identity, size, 0);
FIELD(bg_run_identity, reserved, 4);
FIELD(bg_run_identity, epoch, 8);
FIELD(bg_run_identity, run_id, 16);
FIELD(bg_run_identity, idempotency_key, 48);

HOLDS(sizeof(bg_run_error) == 40);
FIELD(bg_run_error, size, 0);
FIELD(bg_run_error, line, 4);
FIELD(bg_run_error, type_name, 8);
FIELD(bg_run_error, file, 24);

HOLDS(sizeof(bg_runs) == 32);
FIELD(bg_runs, identity, 8);
FIELD(bg_runs, submit, 16);
FIELD(bg_runs, error, 24);

HOLDS(sizeof(bg_checkpoints) == 24);
FIELD(bg_checkpoints, size, 0);
FIELD(bg_checkpoints, save, 8);
FIELD(bg_checkpoints, load, 16);

HOLDS(sizeof(bg_main) == 16);
FIELD(bg_main, serve, 8);

HOLDS(sizeof(bg_wakes) == 24);
FIELD(bg_wakes, keep, 8);
FIELD(bg_wakes, claim, 16);

/* Grown since: what 1.0 had ends at 152. */
HOLDS(sizeof(bg_pending) >= 152);
FIELD(bg_pending, needs, 152);
FIELD(bg_pending, size, 0);
FIELD(bg_pending, kind, 4);
FIELD(bg_pending, earliest_unix_ms, 8);
FIELD(bg_pending, task_id, 16);

HOLDS(sizeof(bg_schedule) == 40);
FIELD(bg_schedule, size, 0);
FIELD(bg_schedule, reserved, 4);
FIELD(bg_schedule, submit, 8);
FIELD(bg_schedule, cancel, 16);
FIELD(bg_schedule, cancel_all, 24);
FIELD(bg_schedule, pending, 32);

HOLDS(sizeof(bg_fetch_request) == 104);
FIELD(bg_fetch_request, size, 0);
FIELD(bg_fetch_request, flags, 4);
FIELD(bg_fetch_request, url, 8);
FIELD(bg_fetch_request, method, 24);
FIELD(bg_fetch_request, headers, 40);
FIELD(bg_fetch_request, body, 56);
FIELD(bg_fetch_request, body_file, 72);
FIELD(bg_fetch_request, max_bytes, 88);
FIELD(bg_fetch_request, timeout_ms, 96);

HOLDS(sizeof(bg_fetch_result) == 64);
FIELD(bg_fetch_result, size, 0);
FIELD(bg_fetch_result, status, 4);
FIELD(bg_fetch_result, http_status, 8);
FIELD(bg_fetch_result, reserved, 12);
FIELD(bg_fetch_result, headers, 16);
FIELD(bg_fetch_result, body, 32);
FIELD(bg_fetch_result, message, 48);

HOLDS(sizeof(bg_fetches) == 24);
FIELD(bg_fetches, size, 0);
FIELD(bg_fetches, reserved, 4);
FIELD(bg_fetches, begin, 8);
FIELD(bg_fetches, cancel, 16);

HOLDS(sizeof(bg_refresh) == 16);
FIELD(bg_refresh, size, 0);
FIELD(bg_refresh, status, 4);
FIELD(bg_refresh, reasons, 8);
FIELD(bg_refresh, reserved, 12);

HOLDS(sizeof(bg_missed) == 24);
FIELD(bg_missed, size, 0);
FIELD(bg_missed, reserved, 4);
FIELD(bg_missed, count, 8);
FIELD(bg_missed, from_unix_ms, 16);

HOLDS(sizeof(bg_statuses) == 24);
FIELD(bg_statuses, size, 0);
FIELD(bg_statuses, reserved, 4);
FIELD(bg_statuses, refresh, 8);
FIELD(bg_statuses, missed, 16);

HOLDS(sizeof(bg_clock) == 32);
FIELD(bg_clock, size, 0);
FIELD(bg_clock, reserved, 4);
FIELD(bg_clock, now, 8);
FIELD(bg_clock, sleep, 16);
FIELD(bg_clock, wake, 24);

HOLDS(sizeof(bg_trace_context) == 592);
FIELD(bg_trace_context, size, 0);
FIELD(bg_trace_context, reserved, 4);
FIELD(bg_trace_context, traceparent, 8);
FIELD(bg_trace_context, tracestate, 72);

HOLDS(sizeof(bg_traces) == 16);
FIELD(bg_traces, size, 0);
FIELD(bg_traces, reserved, 4);
FIELD(bg_traces, context, 8);

HOLDS(sizeof(bg_transfer) == 32);
FIELD(bg_transfer, id, 0);

HOLDS(sizeof(bg_transfer_request) == 232);
FIELD(bg_transfer_request, size, 0);
FIELD(bg_transfer_request, flags, 4);
FIELD(bg_transfer_request, session, 8);
FIELD(bg_transfer_request, url, 24);
FIELD(bg_transfer_request, method, 40);
FIELD(bg_transfer_request, headers, 56);
FIELD(bg_transfer_request, body, 72);
FIELD(bg_transfer_request, file, 88);
FIELD(bg_transfer_request, form_field, 104);
FIELD(bg_transfer_request, form_name, 120);
FIELD(bg_transfer_request, form_type, 136);
FIELD(bg_transfer_request, digest, 152);
FIELD(bg_transfer_request, continuation, 168);
FIELD(bg_transfer_request, label, 184);
FIELD(bg_transfer_request, earliest_unix_ms, 200);
FIELD(bg_transfer_request, max_bytes, 208);
FIELD(bg_transfer_request, idle_timeout_ms, 216);
FIELD(bg_transfer_request, total_timeout_ms, 224);

HOLDS(sizeof(bg_transfer_end) == 24);
FIELD(bg_transfer_end, size, 0);
FIELD(bg_transfer_end, status, 4);
FIELD(bg_transfer_end, transfer, 8);

HOLDS(sizeof(bg_transfers) == 48);
FIELD(bg_transfers, size, 0);
FIELD(bg_transfers, begin, 8);
FIELD(bg_transfers, wait, 16);
FIELD(bg_transfers, cancel, 24);
FIELD(bg_transfers, list, 32);
FIELD(bg_transfers, acknowledge, 40);

HOLDS(sizeof(bg_notification) == 184);
FIELD(bg_notification, size, 0);
FIELD(bg_notification, level, 4);
FIELD(bg_notification, id, 8);
FIELD(bg_notification, title, 24);
FIELD(bg_notification, subtitle, 40);
FIELD(bg_notification, body, 56);
FIELD(bg_notification, thread, 72);
FIELD(bg_notification, category, 88);
FIELD(bg_notification, user_info, 104);
FIELD(bg_notification, actions, 120);
FIELD(bg_notification, at_unix_ms, 136);
FIELD(bg_notification, every_ms, 144);
FIELD(bg_notification, calendar, 152);
FIELD(bg_notification, time_zone, 168);

HOLDS(sizeof(bg_notifier) == 32);
FIELD(bg_notifier, size, 0);
FIELD(bg_notifier, post, 8);
FIELD(bg_notifier, withdraw, 16);
FIELD(bg_notifier, pending, 24);

HOLDS(BG_ABI_MAJOR == 1);
HOLDS(BG_PENDING == 1);
HOLDS(BG_OK == 0);
HOLDS(BG_E_FAILED == -1);
HOLDS(BG_E_RETRY == -2);
HOLDS(BG_E_FINAL == -4);
HOLDS(BG_E_CANCELLED == -3);
HOLDS(BG_E_STALE == -10);
HOLDS(BG_E_CLOSED == -11);
HOLDS(BG_E_ARG == -12);
HOLDS(BG_E_PERM == -13);
HOLDS(BG_E_LIMIT == -14);
HOLDS(BG_E_SMALL == -15);
HOLDS(BG_E_ABSENT == -16);
HOLDS(BG_E_KIND == -17);
HOLDS(BG_E_NOT_NOW == -18);
HOLDS(BG_WHY_EXPIRED == 1u);
HOLDS(BG_WHY_USER == 2u);
HOLDS(BG_WHY_DRAIN == 3u);
HOLDS(BG_WHY_CONDITION == 4u);
HOLDS(BG_WHY_QUOTA == 5u);
HOLDS(BG_RUN_WORKER == 0x10000u);
HOLDS(BG_RUN_WAKE == 0x20000u);
HOLDS(BG_TASK_MAY_BLOCK == 1u);
HOLDS(BG_TASK_SERIAL == 2u);
HOLDS(BG_TASK_NEEDS_WORKER == 4u);
HOLDS(BG_KIND_REFRESH == 1u);
HOLDS(BG_KIND_PROCESSING == 2u);
HOLDS(BG_NEEDS_NETWORK == 1u);
HOLDS(BG_NEEDS_POWER == 2u);
HOLDS(BG_NEEDS_UNMETERED == 4u);
HOLDS(BG_SUBMIT_KEEP == 0x100u);
HOLDS(BG_SUBMIT_UPDATE == 0x200u);
HOLDS(BG_SUBMIT_APPEND == 0x300u);
HOLDS(BG_SUBMIT_NOW == 0x400u);
HOLDS(BG_CHECKPOINT_MAX == 65536u);
HOLDS(BG_FETCH_DIGEST == 1u);
HOLDS(BG_REFRESH_AVAILABLE == 1u);
HOLDS(BG_REFRESH_DENIED == 2u);
HOLDS(BG_REFRESH_RESTRICTED == 3u);
HOLDS(BG_RESTRICTED_BATTERY == 1u);
HOLDS(BG_RESTRICTED_DRAIN == 2u);
HOLDS(BG_RESTRICTED_MAINTENANCE == 4u);
HOLDS(BG_RESTRICTED_BUDGET == 8u);
HOLDS(BG_RESTRICTED_PRESSURE == 16u);
HOLDS(BG_TRANSFER_UPLOAD == 1u);
HOLDS(BG_TRANSFER_FORM == 2u);
HOLDS(BG_TRANSFER_RESUMABLE == 4u);
HOLDS(BG_TRANSFER_DISCRETIONARY == 8u);
HOLDS(BG_TRANSFER_NO_WAKE == 16u);
HOLDS(BG_NOTIFY_PASSIVE == 0u);
HOLDS(BG_NOTIFY_ACTIVE == 1u);
HOLDS(BG_NOTIFY_TIME_SENSITIVE == 2u);
HOLDS(BG_NOTIFY_CRITICAL == 3u);
