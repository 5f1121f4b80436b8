// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// A plugin or a function, as the manifest defines it.
package enum PluginCode: Sendable {
    case plugin(PluginDefinition)
    case function(FunctionDefinition)

    /// Identifies a version of the code, for a quarantine.
    ///
    /// - Parameter sha256: the hash of the library; "" if it is unknown.
    package func identity(sha256: String) -> String {
        switch self {
        case .plugin: sha256
        // The loader finds the library by name, so there is no hash. A wrong signature is the
        // most frequent cause of crashes.
        case .function(let function):
            "\(function.library)#\(function.symbol)\(function.signature)"
        }
    }
}

extension PluginCode {
    /// Whether both definitions are equal, regardless of their location in the manifest.
    package func isSame(as other: PluginCode) -> Bool {
        switch (self, other) {
        case (.plugin(var own), .plugin(let other)):
            own.origin = other.origin
            return own == other
        case (.function(var own), .function(let other)):
            own.origin = other.origin
            return own == other
        default: return false
        }
    }

    package var name: String {
        switch self {
        case .plugin(let definition): definition.name
        case .function(let definition): definition.name
        }
    }

    /// The message for a plugin whose configuration does not fit into a frame.
    package static func configurationTooLong(_ name: String) -> String {
        "`\(name)` cannot be loaded: its `config` and the paths of its `permissions` are longer together"
            + " than the 128 KiB that a worker is told; grant folders instead of many files, or put"
            + " settings into a file"
    }
}
