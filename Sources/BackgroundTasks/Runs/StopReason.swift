// SPDX-License-Identifier: Apache-2.0

/// Why a run was asked to stop.
public enum StopReason: Sendable {
    /// Its runtime is used up.
    case expired
    /// An operator asked.
    case user
    /// The plugin is closed or the daemon stops.
    case drain
    /// Something that the task requires, such as power or a network, went away.
    case condition
    /// It is over a limit of memory, processor time or processes; a kill is near.
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
