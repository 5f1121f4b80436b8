// SPDX-License-Identifier: Apache-2.0

/// The extensions of the C ABI, by the names of `BG_EXT_*` in `bghost.h`.
///
/// The runtime of workers, which the test host and `bghost plugin check` use too, has a table for each. A test
/// compares the names with the header.
package enum HostExtension: String, CaseIterable, Sendable {
    case schedule = "bghost.schedule/1"
    case status = "bghost.status/1"
    case run = "bghost.run/1"
    case checkpoint = "bghost.checkpoint/1"
    case main = "bghost.main/1"
    case fetch = "bghost.fetch/1"
    case transfer = "bghost.transfer/1"
    case wake = "bghost.wake/1"
    case notify = "bghost.notify/1"
    case clock = "bghost.clock/1"
    case trace = "bghost.trace/1"
}
