// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TableTests {
    @Test func `The table describes the plugin`() throws {
        let plugin = Plugin(id: "org.example.é", version: "1.2.3", vendor: "V") {
            Handler("first") { _ in }
            Handler("second", options: [.serial, .needsWorker]) { _ in }
        }
        let raw = try #require(plugin.table(for: ScriptedHost().opaque))
        let table = raw.assumingMemoryBound(to: bg_plugin.self).pointee
        #expect(Int(table.size) == MemoryLayout<bg_plugin>.size)
        #expect([table.abi_major, table.min_host_minor] == [1, 0])
        #expect(
            [table.id, table.version, table.vendor].map(text) == ["org.example.é", "1.2.3", "V"]
        )
        #expect(table.n_tasks == 2)
        let tasks = try (0..<2).map { try #require(table.tasks[$0]).pointee }
        #expect(tasks.map { text($0.handler) } == ["first", "second"])
        let all = BG_TASK_MAY_BLOCK | BG_TASK_SERIAL | BG_TASK_NEEDS_WORKER
        #expect(tasks.map(\.flags) == [BG_TASK_MAY_BLOCK, all])
        // The host keeps a run's place until release() has returned, if there is one.
        #expect(tasks.allSatisfy { $0.release == nil })
        #expect(tasks.allSatisfy { Int($0.size) == MemoryLayout<bg_task>.size })
    }

    @Test func `The table is made once, for all hosts and threads`() async {
        let plugin = Plugin(id: "org.example.once", version: "1") { Handler("a") { _ in } }
        let pointers = await withTaskGroup(of: UInt?.self) { group in
            for index in 0..<16 {
                group.addTask {
                    let host = index.isMultiple(of: 2) ? ScriptedHost().opaque : nil
                    return plugin.table(for: host).map { UInt(bitPattern: $0) }
                }
            }
            return await group.reduce(into: Set<UInt?>()) { $0.insert($1) }
        }
        #expect(pointers.count == 1)
        #expect(!pointers.contains(nil))
    }

    @Test func `A host of another major, or with a shorter table, is refused`() {
        let plugin = Plugin(id: "org.example.major", version: "1") { Handler("a") { _ in } }
        let other = ScriptedHost()
        other.table.pointee.abi_major = 2
        #expect(plugin.table(for: other.opaque) == nil)
        let short = ScriptedHost()
        short.table.pointee.size -= 1
        #expect(plugin.table(for: short.opaque) == nil)
        let longer = ScriptedHost()
        longer.table.pointee.size += 64
        longer.table.pointee.abi_minor = 9
        #expect(plugin.table(for: longer.opaque) != nil)
    }

    @Test func `An extension of an earlier minor has the functions that its table reaches`() throws
    {
        var table = bg_statuses()
        table.refresh = { _, _ in BG_OK }
        table.missed = { _, _, _ in BG_OK }
        table.size = UInt32(MemoryLayout<bg_statuses>.size)
        withUnsafePointer(to: table) { #expect(ExtensionTable<bg_statuses>($0).missed != nil) }
        table.size = UInt32(try #require(MemoryLayout<bg_statuses>.offset(of: \.missed)))
        withUnsafePointer(to: table) {
            #expect(ExtensionTable<bg_statuses>($0).refresh != nil)
            #expect(ExtensionTable<bg_statuses>($0).missed == nil)
        }
    }

    @Test(arguments: [0, 257])
    func `A plugin without handlers, or with too many, is refused with a reason`(count: Int) {
        let host = ScriptedHost()
        let plugin = Plugin(id: "org.example.count", version: "1") {
            for index in 0..<count { Handler("h\(index)") { _ in } }
        }
        #expect(plugin.table(for: host.opaque) == nil)
        let expected =
            "plugin org.example.count has \(count) handlers: a plugin has from 1 to 256"
        #expect(host.logs.first?.message.hasPrefix(expected) == true)
    }

    @Test func `Each handler of a plugin is called for itself`() async throws {
        let plugin = try TestPlugin {
            Handler("one") { _ in 1 }
            Handler("two") { _ in 2 }
            if true { Handler("three") { _ in 3 } }
        }
        for (index, payload) in ["1", "2", "3"].enumerated() {
            let run = try plugin.run(index)
            #expect(run.start() == BG_PENDING)
            #expect(await run.ended.value.payload == payload)
            run.release()
        }
    }

    @Test func `A plugin can be opened again after it was closed`() async throws {
        let host = ScriptedHost()
        let plugin = Plugin(id: "org.example.again", version: "1") {
            Handler("a") { $0.rawConfiguration }
        }
        for config in [#"{"n":1}"#, #"{"n":2}"#] {
            let opened = try TestPlugin(host, plugin.table(for: host.opaque), config: config)
            #expect(try await opened.end().payload.contains(config.filter { $0.isNumber }))
            opened.close()
        }
    }

    @Test func `start() without its arguments is refused`() throws {
        let plugin = try TestPlugin { Handler("a") { _ in } }
        let task = try #require(plugin.table.tasks[0]).pointee
        #expect(task.start(nil, nil) == BG_E_ARG)
        task.cancel(nil, 1, nil, 1)
    }

    @Test func `start() without a known task of bg_run_info fails, and the log says why`() throws {
        let plugin = try TestPlugin { Handler("a") { _ in Issue.record("it was begun") } }
        let old = try plugin.run()
        old.info.pointee.size = 88
        #expect(old.start() == BG_E_FAILED)
        #expect(plugin.host.logs.last?.message.contains("bg_run_info has 88 bytes") == true)
        let wrong = try plugin.run()
        wrong.info.pointee.task = nil
        #expect(wrong.start() == BG_E_FAILED)
        #expect(plugin.host.logs.last?.message.contains("not one of this plugin's") == true)
    }

    @Test func `start() of a run that the host does not know fails`() throws {
        let plugin = try TestPlugin { Handler("a") { _ in Issue.record("it was begun") } }
        let run = try plugin.run()
        plugin.host.state.withLock { $0.runs = [:] }
        #expect(run.start() == BG_E_FAILED)
        run.release()
    }
}
