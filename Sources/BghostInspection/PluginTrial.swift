// SPDX-License-Identifier: Apache-2.0

package import BghostSchemas

/// The reason why a plugin cannot be used.
package struct ProbeFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package let message: String

    package var description: String { message }
}

/// What the table of a loaded plugin says of it.
package struct PluginSummary: Equatable, Sendable {
    package var id: String
    package var version: String
    /// The names of its handlers.
    package var handlers: [String]
    /// The schemas of its handlers' parameters.
    package var schemas = HandlerSchemas()
    /// Whether its note asks the host to check parameters against them.
    package var checksParameters = false
}

/// A plugin that was loaded for a trial.
package struct PluginTrial: Equatable, Sendable {
    /// The plugin for people: its id, version and handlers.
    package var text: String
    package var schemas: HandlerSchemas
}
