// SPDX-License-Identifier: Apache-2.0

/// Why a run was cancelled.
public enum StopReason: Sendable {
    /// Its runtime limit has passed.
    case expired
    /// An operator cancelled it.
    case user
    /// The plugin is being closed, or the daemon is stopping.
    case drain
    /// A requirement of the task, such as power or a network, is no longer met.
    case condition
    /// The plugin exceeds a limit of memory, processor time or processes, and will soon be killed.
    case quota
    /// A reason that this SDK does not know.
    case other

    init(code: UInt32) {
        switch code {
        case 1: self = .expired
        case 2: self = .user
        case 3: self = .drain
        case 4: self = .condition
        case 5: self = .quota
        default: self = .other
        }
    }
}
