// SPDX-License-Identifier: Apache-2.0

/// How the daemon's process ended.
package enum DaemonEnd: Equatable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    /// Completes a sentence that begins with "it".
    package var description: String {
        switch self {
        case .exited(let status): "exited with \(status)"
        case .signalled(9): "was killed (signal 9)"
        case .signalled(let signal): "died of signal \(signal)"
        }
    }
}
