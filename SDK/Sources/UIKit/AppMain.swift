// SPDX-License-Identifier: Apache-2.0

package import BackgroundTasks
internal import CBghostApp
internal import Synchronization

/// The plugin of an app with `@main`: its `main()` makes it, and the entry of the library asks for it.
package enum AppMain {
    private struct State {
        var hasRun = false
        var plugin: Plugin?
    }

    private static let state = Mutex(State())

    /// Sets the plugin; `main()` of the app calls it.
    package static func use(_ plugin: Plugin) { state.withLock { $0.plugin = plugin } }

    /// The id of an app that states none: `app.` and the name of its module.
    package static func identifier(of app: Any.Type) -> String {
        "app." + (String(reflecting: app).split(separator: ".").first.map(String.init) ?? "unnamed")
    }

    /// The table of the plugin; `nil` if the library has no app with `@main`.
    fileprivate static func table(for host: HostTable?) -> PluginTable? {
        // Once, as the system does: further calls get the same table.
        let isFirst = state.withLock { state in
            defer { state.hasRun = true }
            return !state.hasRun
        }
        if isFirst, bghost_app_run() == 0 {
            Plugin.reportFault(
                "the library has neither an entry of its own nor an app with `@main`: its target needs "
                    + "the compiler's flag `-entry-point-function-name bghost_app_main`",
                to: host
            )
        }
        return state.withLock { $0.plugin }?.table(for: host)
    }
}

/// What the library's entry calls.
@c(bghost_app_table)
package func appTable(_ host: HostTable?) -> PluginTable? { AppMain.table(for: host) }
