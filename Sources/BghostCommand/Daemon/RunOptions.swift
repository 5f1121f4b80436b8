// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The format of the daemon's log.
enum LogFormat: String, Equatable, Sendable, CaseIterable {
    /// Text if stderr is a terminal, otherwise JSON.
    case auto
    case json
    case text
}

/// The options of `bghost run`.
struct RunOptions: Equatable, Sendable {
    /// The path of the manifest.
    var config: String
    var stateDirectory: String?
    /// The path of the control socket.
    var control: String?
    var logFormat: LogFormat
    var logLevel: LogEntry.Level
    /// The folders in which plugins are searched, in this order.
    var pluginPaths: [String]
    var slots: Int?
    /// The file in which all decisions are recorded for a replay.
    var record: String?
    /// Whether to accept files that other users could change.
    var allowsUntrustedFiles: Bool
    var developmentLibraries: DevelopmentLibraries

    init(
        config: String,
        stateDirectory: String? = nil,
        control: String? = nil,
        logFormat: LogFormat = .auto,
        logLevel: LogEntry.Level = .info,
        pluginPaths: [String] = [],
        slots: Int? = nil,
        record: String? = nil,
        allowsUntrustedFiles: Bool = false,
        developmentLibraries: DevelopmentLibraries
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
        self.developmentLibraries = developmentLibraries
    }
}
