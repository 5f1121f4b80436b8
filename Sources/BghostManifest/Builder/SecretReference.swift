// SPDX-License-Identifier: Apache-2.0

/// The name of a value that is kept outside the manifest.
package struct SecretReference: Equatable, Hashable, Sendable, CustomStringConvertible {
    /// Where the value is kept.
    package enum Kind: String, Equatable, Hashable, Sendable, CaseIterable {
        /// A variable of the daemon's environment.
        case env
        /// The contents of a file, without the newline at its end.
        case file
        /// A credential of the service manager.
        case credential
    }

    package var kind: Kind
    /// The name; for a file its absolute path.
    package var name: String

    init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    /// The form in which a manifest contains it.
    package var description: String { "${\(kind.rawValue):\(name)}" }
}

/// Why a reference has no value.
package struct SecretError: Error, Equatable, Sendable {
    /// A clause for people, such as "it is not set"; never a part of the value.
    var reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
