// SPDX-License-Identifier: Apache-2.0

import CBghost
import Testing

/// Where Swift sees each field of ABI 1.0.
///
/// `layout-1.0.c` holds the same numbers for C and C++; none of them may ever change.
@Suite struct LayoutTests {
    private func expect<T>(
        _: T.Type,
        size: Int,
        alignment: Int = 8,
        _ fields: [(PartialKeyPath<T>, Int)]
    ) {
        #expect(MemoryLayout<T>.size == size)
        #expect(MemoryLayout<T>.stride == size)
        #expect(MemoryLayout<T>.alignment == alignment)
        for (field, offset) in fields {
            #expect(MemoryLayout<T>.offset(of: field) == offset, "\(field)")
        }
    }

    @Test func `The layout of results holds`() {
        expect(
            bg_str.self,
            size: 16,
            [
                (\.ptr, 0), (\.len, 8),
            ]
        )
        expect(
            bg_result.self,
            size: 48,
            [
                (\.size, 0), (\.status, 4), (\.message, 8), (\.payload, 24),
                (\.retry_after_ms, 40),
            ]
        )
        expect(
            bg_run_error.self,
            size: 40,
            [(\.size, 0), (\.line, 4), (\.type_name, 8), (\.file, 24)]
        )
        expect(
            bg_run_info.self,
            size: 96,
            [
                (\.size, 0), (\.attempt, 4), (\.run, 8), (\.task_id, 16), (\.params, 32),
                (\.data_dir, 48), (\.deadline_mono_ns, 64), (\.grace_ms, 72), (\.max_result, 76),
                (\.cancel_fd, 80), (\.flags, 84), (\.task, 88),
            ]
        )
    }

    @Test func `The layout of the host holds`() {
        expect(
            bg_host.self,
            size: 104,
            [
                (\.size, 0), (\.abi_major, 4), (\.abi_minor, 6), (\.ctx, 8), (\.name, 16),
                (\.version, 32), (\.complete, 48), (\.cancelled, 56), (\.set_state, 64),
                (\.progress, 72), (\.log, 80), (\.param, 88), (\.extension, 96),
            ]
        )
    }

    @Test func `The layout of the plugin holds`() {
        expect(
            bg_task.self,
            size: 64,
            [
                (\.size, 0), (\.flags, 4), (\.handler, 8), (\.params_schema, 24), (\.start, 40),
                (\.cancel, 48), (\.release, 56),
            ]
        )
        expect(
            bg_plugin.self,
            size: 96,
            [
                (\.size, 0), (\.abi_major, 4), (\.min_host_minor, 6), (\.id, 8), (\.version, 24),
                (\.vendor, 40), (\.flags, 56), (\.n_tasks, 60), (\.tasks, 64), (\.open, 72),
                (\.drain, 80), (\.close, 88),
            ]
        )
    }

    @Test func `The layout of the schedule table holds`() {
        expect(
            bg_request.self,
            size: 56,
            [
                (\.size, 0), (\.kind, 4), (\.task_id, 8), (\.params, 24),
                (\.earliest_unix_ms, 40), (\.needs, 48), (\.reserved, 52),
            ]
        )
        expect(
            bg_pending.self,
            // What ABI 1.0 had ends at 152.
            size: 160,
            [
                (\.size, 0), (\.kind, 4), (\.earliest_unix_ms, 8), (\.task_id, 16), (\.needs, 152),
                (\.reserved, 156),
            ]
        )
        expect(
            bg_schedule.self,
            size: 40,
            [
                (\.size, 0), (\.reserved, 4), (\.submit, 8), (\.cancel, 16), (\.cancel_all, 24),
                (\.pending, 32),
            ]
        )
    }

    @Test func `The layout of the status table holds`() {
        expect(
            bg_refresh.self,
            size: 16,
            alignment: 4,
            [
                (\.size, 0), (\.status, 4), (\.reasons, 8), (\.reserved, 12),
            ]
        )
        expect(
            bg_missed.self,
            size: 24,
            [
                (\.size, 0), (\.reserved, 4), (\.count, 8), (\.from_unix_ms, 16),
            ]
        )
        expect(
            bg_statuses.self,
            size: 24,
            [
                (\.size, 0), (\.reserved, 4), (\.refresh, 8), (\.missed, 16),
            ]
        )
    }

    @Test func `The layout of the fetch table holds`() {
        expect(
            bg_fetch_request.self,
            size: 104,
            [
                (\.size, 0), (\.flags, 4), (\.url, 8), (\.method, 24), (\.headers, 40),
                (\.body, 56), (\.body_file, 72), (\.max_bytes, 88), (\.timeout_ms, 96),
            ]
        )
        expect(
            bg_fetch_result.self,
            size: 64,
            [
                (\.size, 0), (\.status, 4), (\.http_status, 8), (\.reserved, 12), (\.headers, 16),
                (\.body, 32), (\.message, 48),
            ]
        )
        expect(
            bg_fetches.self,
            size: 24,
            [
                (\.size, 0), (\.reserved, 4), (\.begin, 8), (\.cancel, 16),
            ]
        )
    }

    @Test func `The layout of the transfers table holds`() {
        expect(
            bg_transfer.self,
            size: 32,
            alignment: 1,
            [
                (\.id, 0)
            ]
        )
        expect(
            bg_transfer_request.self,
            size: 232,
            [
                (\.size, 0), (\.flags, 4), (\.session, 8), (\.url, 24), (\.method, 40),
                (\.headers, 56), (\.body, 72), (\.file, 88), (\.form_field, 104),
                (\.form_name, 120), (\.form_type, 136), (\.digest, 152), (\.continuation, 168),
                (\.label, 184), (\.earliest_unix_ms, 200), (\.max_bytes, 208),
                (\.idle_timeout_ms, 216), (\.total_timeout_ms, 224),
            ]
        )
        expect(
            bg_transfer_end.self,
            size: 24,
            [
                (\.size, 0), (\.status, 4), (\.transfer, 8),
            ]
        )
        expect(
            bg_transfers.self,
            size: 48,
            [
                (\.size, 0), (\.begin, 8), (\.wait, 16), (\.cancel, 24), (\.list, 32),
                (\.acknowledge, 40),
            ]
        )
    }

    @Test func `The layout of the notifications table holds`() {
        expect(
            bg_notification.self,
            size: 184,
            [
                (\.size, 0), (\.level, 4), (\.id, 8), (\.title, 24), (\.subtitle, 40),
                (\.body, 56), (\.thread, 72), (\.category, 88), (\.user_info, 104),
                (\.actions, 120), (\.at_unix_ms, 136), (\.every_ms, 144), (\.calendar, 152),
                (\.time_zone, 168),
            ]
        )
        expect(
            bg_notifier.self,
            size: 32,
            [
                (\.size, 0), (\.post, 8), (\.withdraw, 16), (\.pending, 24),
            ]
        )
    }

    @Test func `The layout of the clock table holds`() {
        expect(
            bg_clock.self,
            size: 32,
            [
                (\.size, 0), (\.reserved, 4), (\.now, 8), (\.sleep, 16), (\.wake, 24),
            ]
        )
    }
}
