// SPDX-License-Identifier: Apache-2.0

/// How far the daemon is with its end.
package struct DrainStatus: Codable, Equatable, Sendable {
    /// Whether it starts no more runs and takes no more requests.
    @OrDefault package var draining: Bool
    /// Whether its runs may still end by themselves.
    @OrDefault package var finishing: Bool
    /// The runs in progress.
    @OrDefault package var running: Int
    /// When the runs that are left are cancelled; null without a bound, and when they were.
    @FormOrNull<RFC3339> package var until: Int64?
    /// The runs that did not end by themselves, and were cancelled.
    @OrDefault package var cancelled: Int

    package init(
        draining: Bool = false,
        finishing: Bool = false,
        running: Int = 0,
        until: Int64? = nil,
        cancelled: Int = 0
    ) {
        _draining = OrDefault(wrappedValue: draining)
        _finishing = OrDefault(wrappedValue: finishing)
        _running = OrDefault(wrappedValue: running)
        _until = FormOrNull(wrappedValue: until)
        _cancelled = OrDefault(wrappedValue: cancelled)
    }
}
