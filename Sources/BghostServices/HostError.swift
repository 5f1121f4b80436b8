// SPDX-License-Identifier: Apache-2.0

package import BghostStore

/// The reason why a host cannot start.
package enum HostError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The state directory cannot be used; the text contains the reason and the remedy.
    case stateDirectory(String)
    /// Another daemon has locked the state directory.
    case stateDirectoryTaken(String)
    case store(StoreError)

    package var description: String {
        switch self {
        case .stateDirectory(let text), .stateDirectoryTaken(let text): text
        case .store(let error): error.description
        }
    }
}
