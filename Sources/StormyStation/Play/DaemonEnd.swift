// SPDX-License-Identifier: Apache-2.0
import Subprocess

/// How the daemon's process ended.
package enum DaemonEnd: Equatable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    init(_ status: TerminationStatus) {
        switch status {
        case .exited(let code): self = .exited(code)
        case .signaled(let signal): self = .signalled(signal)
        }
    }

    /// A clause for a sentence that starts with "it".
    package var description: String {
        switch self {
        case .exited(let status): "exited with \(status)"
        case .signalled(9): "was killed (signal 9)"
        case .signalled(let signal): "died of signal \(signal)"
        }
    }
}
