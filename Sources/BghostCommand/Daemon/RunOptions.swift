// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// How the daemon writes its log.
package enum LogFormat: String, Equatable, Sendable, CaseIterable {
    /// Text on a terminal, JSON elsewhere.
    case auto
    case json
    case text
}

/// What `bghost run` was asked for.
package struct RunOptions: Equatable, Sendable {
    /// The path of the manifest.
    package var config: String
    package var stateDirectory: String?
    /// The path of the control socket.
    package var control: String?
    package var logFormat: LogFormat
    package var logLevel: LogEntry.Level
    /// Where plugins are looked for, in this order.
    package var pluginPaths: [String]
    package var slots: Int?
    /// Where all decisions are written, to be replayed.
    package var record: String?
    /// Whether files are taken that others could change.
    package var isLax: Bool

    package init(
        config: String,
        stateDirectory: String? = nil,
        control: String? = nil,
        logFormat: LogFormat = .auto,
        logLevel: LogEntry.Level = .info,
        pluginPaths: [String] = [],
        slots: Int? = nil,
        record: String? = nil,
        isLax: Bool = false
    ) {
        self.config = config
        self.stateDirectory = stateDirectory
        self.control = control
        self.logFormat = logFormat
        self.logLevel = logLevel
        self.pluginPaths = pluginPaths
        self.slots = slots
        self.record = record
        self.isLax = isLax
    }
}
