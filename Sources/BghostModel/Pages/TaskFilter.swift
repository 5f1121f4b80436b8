// SPDX-License-Identifier: Apache-2.0

/// Which tasks a list contains: one, or all whose identifiers begin alike.
package enum TaskFilter: Equatable, Sendable {
    case task(String)
    /// The beginning of identifiers, such as `com.example.`; "" for all.
    case beginning(String)

    /// - Parameter text: an identifier, or its beginning and `*`.
    package init(_ text: String) {
        self = text.hasSuffix("*") ? .beginning(String(text.dropLast())) : .task(text)
    }

    /// What `init` reads.
    package var text: String {
        switch self {
        case .task(let identifier): identifier
        case .beginning(let stem): stem + "*"
        }
    }

    /// The identifier, if it selects one task only.
    package var task: String? {
        if case .task(let identifier) = self { identifier } else { nil }
    }

    /// Case matters.
    package func matches(_ identifier: String) -> Bool {
        switch self {
        case .task(let wanted): identifier == wanted
        case .beginning(let stem): identifier.utf8.starts(with: stem.utf8)
        }
    }
}
