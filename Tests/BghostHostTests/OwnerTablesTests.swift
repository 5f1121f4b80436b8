// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
@testable import BghostHost
@testable import BghostInspection
@testable import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import BghostWire
import Testing

/// The tables that owners share, without a daemon and without a process.
@Suite struct OwnerTablesTests {
    private static func plugin(_ name: String) -> PluginCode {
        .plugin(PluginDefinition(name: name, library: "\(name).so"))
    }

    @Test func `A retired version keeps its index, and its name belongs to the next one`() {
        let plugins = PluginTable()
        let first = plugins.add(Self.plugin("a"))
        _ = plugins.add(Self.plugin("b"))
        plugins.retire(first)
        #expect(plugins["a"] == nil && plugins[0] === first && first.isRetired)
        let second = plugins.add(Self.plugin("a"))
        #expect(second.index == 2 && plugins["a"] === second)
        // A version that was replaced before it is retired does not take the name with it.
        plugins.retire(first)
        #expect(plugins["a"] === second)
        #expect(plugins.names == ["a", "b"])
    }

    @Test func `The index of a released version goes to another plugin`() {
        let plugins = PluginTable()
        let first = plugins.add(Self.plugin("a"))
        let other = plugins.add(Self.plugin("b"))
        #expect(plugins.inUse.isEmpty)
        first.executors[1] = TestExecutor(serial: 1, plugin: first, slotCount: 1)
        other.isBeingChecked = true
        #expect(plugins.inUse == [0, 1])
        first.executors = [:]
        #expect(plugins.inUse == [1])
        // A current version is never released.
        plugins.retire(first)
        plugins.release([0, 1])
        #expect(first.isReleased && !other.isReleased)
        let second = plugins.add(Self.plugin("c"), at: 0)
        #expect(plugins[0] === second && plugins["c"] === second && plugins.all.count == 2)
        #expect(!second.isReleased && plugins["a"] == nil)
    }

    @Test func `Serial numbers wrap, and skip 0 and executors that still exist`() {
        let executors = ExecutorTable(after: .max - 1)
        let plugin = PluginTable().add(Self.plugin("a"))
        let last = TestExecutor(serial: executors.nextSerial(), plugin: plugin, slotCount: 1)
        #expect(last.serial == .max)
        executors.add(last)
        let first = TestExecutor(serial: executors.nextSerial(), plugin: plugin, slotCount: 1)
        #expect(first.serial == 1)
        executors.add(first)
        #expect(executors[1] === first && executors.all.count == 2)
        executors.remove(first)
        #expect(executors[1] == nil && !executors.isEmpty)
    }

    @Test func `The number of an ended run finds no other run in the same entry`() throws {
        let runs = RunTable()
        let plugin = PluginTable().add(Self.plugin("a"))
        let executor = TestExecutor(serial: 1, plugin: plugin, slotCount: 4)
        func makeRun(_ id: UInt64) -> ActiveRun {
            ActiveRun(
                machine: RunMachine(limits: RunLimits(kind: .refresh), isKillable: true),
                record: RunRecord(
                    id: RunID(high: 0, low: id),
                    request: RunID(high: 1, low: id),
                    task: "task",
                    plugin: "a",
                    limits: RunLimits(kind: .refresh),
                    submittedAt: 0
                ),
                handle: RunHandle(index: 0),
                task: 0,
                parameters: "{}",
                executor: executor
            )
        }
        let first = try #require(runs.add(makeRun(1), slotIndex: 3))
        #expect(WorkerSlot.of(first) == 3 && runs.run(first)?.record.id.low == 1)
        runs.remove(at: try #require(runs.index(of: first)))
        let second = try #require(runs.add(makeRun(2), slotIndex: 3))
        #expect(RunTable.slot(of: first) == RunTable.slot(of: second))
        #expect(runs.run(first) == nil && runs.run(second)?.record.id.low == 2)
        #expect(runs.run(0) == nil && runs.run(.max) == nil)
        #expect(runs.run(id: RunID(high: 0, low: 2))?.number == second)
    }
}
