// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost
import Testing

/// A plugin that a host has opened.
final class TestPlugin: @unchecked Sendable {
    let host: TestHost
    let table: bg_plugin
    private let instance: UnsafeMutableRawPointer

    /// Opens a plugin by its table.
    init(_ host: TestHost, _ table: PluginTable?, config: String = "{}") throws {
        self.host = host
        let pointer = try #require(table).assumingMemoryBound(to: bg_plugin.self)
        let table = pointer.pointee
        self.table = table
        var instance: UnsafeMutableRawPointer?
        var config = config
        let status = config.withUTF8 { bytes in
            let pointer = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
            return table.open(host.table, bg_str(ptr: pointer, len: bytes.count), &instance)
        }
        try #require(status == BG_OK)
        self.instance = try #require(instance)
    }

    /// Opens a plugin that has these handlers.
    convenience init(
        on host: TestHost = TestHost(),
        config: String = "{}",
        @HandlerBuilder _ handlers: () -> [Handler]
    ) throws {
        let plugin = Plugin(id: "org.example.test", version: "1.0.0", handlers: handlers)
        try self.init(host, plugin.table(for: host.opaque), config: config)
    }

    func close() { table.close(instance) }

    /// A run of a handler that has not been started.
    func run(_ index: Int = 0, _ setting: TestRun.Setting = .init()) throws -> TestRun {
        let task = try #require(table.tasks[index])
        let run = TestRun(task, instance, setting)
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
