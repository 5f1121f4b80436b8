// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import CBghost
internal import Glibc

/// Memory of the host that the plugin may only read, and only for a limited time; and the plugin's
/// own tables, which must not change.
///
/// A violation of the first two causes a fault, which reports its place.
enum MemoryChecks {
    static let all = [
        Check(
            "host-memory",
            "it does not write to the host's memory",
            level: 8,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            var behavior = Subject.Behavior()
            behavior.guardsTable = true
            behavior.runGuard = .writers
            _ = try stage.subject(behavior).carry()
        },
        Check(
            "late-reads",
            "it does not read what a run was told once that is released",
            level: 8,
            .handler,
            needs: ["run"],
            runs: 4
        ) { (stage) throws(Finding) in
            var behavior = Subject.Behavior()
            behavior.runGuard = .lateReaders
            behavior.slotCount = 4
            let subject = try stage.subject(behavior)
            for slotIndex in 0..<behavior.slotCount {
                _ = try subject.carryToEnd(slotIndex: slotIndex)
            }
            // Threads of the plugin may still be about to access it.
            grantTime(milliseconds: 100)
        },
        Check(
            "own-table",
            "its tables stay as they were handed out",
            level: 8,
            .plugin,
            needs: ["open", "entry-again", "run"],
            runs: 8,
            body: ownTable
        ),
    ]

    private static func ownTable(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject()
        let mapped = try stage.map()
        guard let table = mapped.entry(subject.table) else { return }
        let handlers = subject.plugin?.handlers ?? []
        let before = bytes(table, handlers)
        try subject.carryEach()
        guard before != bytes(table, handlers) else { return }
        throw Finding.failed(
            "a run changes its bg_plugin or a bg_task",
            fix: "make them const: the host has read them, and does not look again"
        )
    }

    /// The reader has read these tables completely before, so they can be read directly.
    private static func bytes(
        _ table: UnsafePointer<bg_plugin>,
        _ handlers: [PluginDescriptor.Handler]
    ) -> [UInt8] {
        var all = Array(
            UnsafeRawBufferPointer(start: table, count: MemoryLayout<bg_plugin>.size)
        )
        for handler in handlers {
            all += UnsafeRawBufferPointer(
                start: UnsafeRawPointer(bitPattern: handler.address),
                count: MemoryLayout<bg_task>.size
            )
        }
        return all
    }
}
