// SPDX-License-Identifier: Apache-2.0

package import BghostStore

/// Why a host cannot start.
package enum HostError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The state directory cannot be used; the text says why and what to do.
    case stateDirectory(String)
    /// Another daemon has the state directory.
    case stateDirectoryTaken(String)
    case store(StoreError)

    package var description: String {
        switch self {
        case .stateDirectory(let text), .stateDirectoryTaken(let text): text
        case .store(let error): error.description
        }
    }
}
