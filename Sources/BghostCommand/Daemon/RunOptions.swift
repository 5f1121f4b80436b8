// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// The format of the daemon's log.
package enum LogFormat: String, Equatable, Sendable, CaseIterable {
    /// Text if stderr is a terminal, otherwise JSON.
    case auto
    case json
    case text
}

/// The options of `bghost run`.
package struct RunOptions: Equatable, Sendable {
    /// The path of the manifest.
    package var config: String
    package var stateDirectory: String?
    /// The path of the control socket.
    package var control: String?
    package var logFormat: LogFormat
    package var logLevel: LogEntry.Level
    /// The folders in which plugins are searched, in this order.
    package var pluginPaths: [String]
    package var slots: Int?
    /// The file in which all decisions are recorded for a replay.
    package var record: String?
    /// Whether to accept files that other users could change.
    package var allowsUntrustedFiles: Bool

    package init(
        config: String,
        stateDirectory: String? = nil,
        control: String? = nil,
        logFormat: LogFormat = .auto,
        logLevel: LogEntry.Level = .info,
        pluginPaths: [String] = [],
        slots: Int? = nil,
        record: String? = nil,
        allowsUntrustedFiles: Bool = false
    ) {
        self.config = config
        self.stateDirectory = stateDirectory
        self.control = control
        self.logFormat = logFormat
        self.logLevel = logLevel
        self.pluginPaths = pluginPaths
        self.slots = slots
        self.record = record
        self.allowsUntrustedFiles = allowsUntrustedFiles
    }
}
