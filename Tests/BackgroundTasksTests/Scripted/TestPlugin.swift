// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost
import Testing

/// A plugin that a scripted host has opened.
final class TestPlugin: Sendable {
    let host: ScriptedHost
    private let opened: OpenPlugin

    /// Opens a plugin by its table.
    init(_ host: ScriptedHost, _ table: PluginTable?, config: String = "{}") throws {
        self.host = host
        opened = try #require(OpenPlugin(table, on: host, config: config))
    }

    /// Opens a plugin that has these handlers.
    convenience init(
        on host: ScriptedHost = ScriptedHost(),
        config: String = "{}",
        @HandlerBuilder _ handlers: () -> [Handler]
    ) throws {
        let plugin = Plugin(id: "org.example.test", version: "1.0.0", handlers: handlers)
        try self.init(host, plugin.table(for: host.opaque), config: config)
    }

    var table: bg_plugin { opened.table }

    func close() { opened.close() }

    /// A run of a handler that has not been started.
    func run(_ index: Int = 0, _ setting: TestRun.Setting = .init()) throws -> TestRun {
        let task = try #require(table.tasks[index])
        let run = TestRun(task, opened, setting)
        host.add(run)
        return run
    }

    /// Carries out a run to its end.
    func end(_ setting: TestRun.Setting = .init()) async throws -> Ending {
        let run = try run(0, setting)
        run.start()
        let ending = await run.ended.value
        run.release()
        return ending
    }
}
