// SPDX-License-Identifier: Apache-2.0

package import CBghost
internal import Synchronization

/// The functions of the host.
///
/// Any thread may call them at any time.
package struct Host: @unchecked Sendable {
    // Threads may share it: the host guarantees that its table never changes and is never freed.
    private let table: UnsafePointer<bg_host>

    static let latest = Mutex<Host?>(nil)
    static let open = Mutex<Set<UInt>>([])

    /// The host that opened the plugin last, for calls outside a run.
    package static var last: Host? { latest.withLock { $0 } }
    /// The addresses of hosts that have opened a plugin and not closed it.
    package static var openAddresses: Set<UInt> { open.withLock { $0 } }

    /// Wraps a host's table; `nil` if it has another major version or lacks functions of 1.0.
    init?(_ table: UnsafePointer<bg_host>) {
        // What a later minor appends is not demanded.
        guard let last = MemoryLayout<bg_host>.offset(of: \.extension),
            Int(table.pointee.size) >= last + MemoryLayout<UnsafeRawPointer?>.size,
            Int32(table.pointee.abi_major) == BG_ABI_MAJOR
        else { return nil }
        self.table = table
    }

    init?(_ table: HostTable) {
        self.init(table.assumingMemoryBound(to: bg_host.self))
    }

    package var pointer: UnsafePointer<bg_host> { table }

    /// Why the run must stop, above 0; 0 if it may continue.
    func cancelled(_ run: bg_run) -> bg_status {
        table.pointee.cancelled?(table, run) ?? BG_E_ABSENT
    }

    func complete(_ run: bg_run, _ result: inout bg_result) -> bg_status {
        table.pointee.complete?(table, run, &result) ?? BG_E_ABSENT
    }

    func progress(_ run: bg_run, done: UInt64, total: UInt64, phase: String) {
        // A handler cannot act on the status: the host drops reports that are too frequent or too
        // late.
        phase.withBgStr { _ = table.pointee.progress?(table, run, done, total, $0) }
    }

    func log(_ level: LogLevel, _ message: String, run: bg_run = 0) {
        // A host that takes no lines leaves a handler no place to say so.
        message.withBgStr { _ = table.pointee.log?(table, run, level.rawValue, $0) }
    }

    /// The table of an extension; `nil` if the host does not have it.
    package func `extension`<Table>(_ name: String, as type: Table.Type) -> ExtensionTable<Table>? {
        table.pointee.extension?(table, name).map(ExtensionTable.init)
    }
}
