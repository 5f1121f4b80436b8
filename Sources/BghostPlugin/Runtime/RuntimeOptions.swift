// SPDX-License-Identifier: Apache-2.0

extension PluginRuntime {
    /// How a runtime works for its host.
    package struct Options: Sendable {
        /// The most concurrent runs.
        var slotCount: Int
        /// Whether handlers that may block run on threads of their own.
        ///
        /// Otherwise they run on the thread that calls `start`.
        var threadsForBlocking: Bool
        var isWorker: Bool
        /// Absolute path.
        var dataDirectory: String
        /// A JSON object.
        var config: String
        var hostVersion: String
        /// Whether the thread that loads the plugin is the process's main thread and later calls
        /// `serveMain`.
        package var servesMain = false
        /// The host's own clock, for which the plugin gets the extension `bghost.clock/1`; `nil`
        /// if its time is the machine's.
        ///
        /// With it, log lines and progress reports are all passed on: the limits of their rates are
        /// in the machine's time, on which such a host must not depend.
        package var clock: (any RuntimeClock)?
        /// Which accesses to a run's data fault; used by `plugin check`.
        package var runGuard = RunGuard.none

        package init(
            slotCount: Int,
            threadsForBlocking: Bool,
            isWorker: Bool,
            dataDirectory: String,
            config: String,
            hostVersion: String
        ) {
            self.slotCount = slotCount
            self.threadsForBlocking = threadsForBlocking
            self.isWorker = isWorker
            self.dataDirectory = dataDirectory
            self.config = config
            self.hostVersion = hostVersion
        }
    }
}
