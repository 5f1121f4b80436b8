// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
public import Logging

/// Writes what is logged with swift-log to the host's log, with the run in which it is logged.
///
/// Call `bootstrap()` where the plugin is made; from then on every `Logging.Logger` of the process writes
/// there, those of other packages too:
///
///     let plugin: Plugin = {
///         RunLogHandler.bootstrap()
///         return Plugin(id: "org.example.weather", version: "1.0.0") { … }
///     }()
///
/// A line is the label, the message, and the metadata as `key=value`, sorted by key. What is logged outside of a
/// run, or in a task that does not descend from it, belongs to the plugin. The host truncates a line at 8 KiB,
/// and drops and counts those beyond its rate limit. `notice` becomes `info`, and `critical` becomes `fault`.
///
/// In a file that imports `BackgroundTasks` too, write `Logging.Logger`: that module has a `Logger` as well.
public struct RunLogHandler: LogHandler {
    /// The least level that is written; the host may drop more.
    public var logLevel: Logging.Logger.Level
    /// The metadata of each line.
    public var metadata: Logging.Logger.Metadata = [:]
    /// Gives more metadata for each line.
    public var metadataProvider: Logging.Logger.MetadataProvider?
    private let label: String

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - label: the name of the logger.
    ///   - logLevel: the least level that is written.
    ///   - metadataProvider: gives more metadata for each line.
    public init(
        label: String,
        logLevel: Logging.Logger.Level = .info,
        metadataProvider: Logging.Logger.MetadataProvider? = nil
    ) {
        self.label = label
        self.logLevel = logLevel
        self.metadataProvider = metadataProvider
    }

    /// Makes this the handler of all loggers of the process; further calls do nothing.
    ///
    /// The host may open a plugin again in the same process, and swift-log takes one handler only.
    public static func bootstrap() { isReady }

    private static let isReady: Void = LoggingSystem.bootstrap(
        { RunLogHandler(label: $0, metadataProvider: $1) },
        metadataProvider: nil
    )

    /// The metadata under a key.
    public subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line.
    public func log(event: LogEvent) {
        BackgroundTasks.Logger().log(Self.level(of: event.level), text(of: event))
    }

    /// The line of an event: metadata of the call replaces that of the provider, and that the handler's.
    func text(of event: LogEvent) -> String {
        var fields = metadata
        if let more = metadataProvider?.get() { fields.merge(more) { $1 } }
        if let more = event.metadata { fields.merge(more) { $1 } }
        if let error = event.error {
            fields["error"] = "\(error)"
            fields["error.type"] = "\(type(of: error))"
        }
        let line = fields.sorted { $0.key < $1.key }
            .map { " \(Self.quoted($0.key))=\(Self.quoted("\($0.value)"))" }
            .joined()
        return "\(label): \(event.message)\(line)"
    }

    static func level(of level: Logging.Logger.Level) -> LogLevel {
        switch level {
        case .trace: .trace
        case .debug: .debug
        case .info, .notice: .info
        case .warning: .warning
        case .error: .error
        case .critical: .fault
        }
    }

    /// The text in quotes, unless it is one word.
    private static func quoted(_ text: String) -> String {
        let isWord = text.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x20 && scalar.value != 0x7F && scalar != "\"" && scalar != "="
        }
        guard text.isEmpty || !isWord else { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
