// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// The C table of a plugin.
///
/// Its memory is never freed, since the host may read it as long as the process lives.
struct TablePointer: @unchecked Sendable {
    /// The limit of the ABI.
    static let handlersMax = 256

    /// Written by `init` and only read afterwards, so threads may share it.
    let pointer: UnsafePointer<bg_plugin>

    /// Creates the table; `nil` if the plugin has no handlers or too many.
    init?(_ plugin: Plugin) {
        guard (1...Self.handlersMax).contains(plugin.handlers.count) else { return nil }
        let count = plugin.handlers.count
        let tasks = UnsafeMutablePointer<UnsafePointer<bg_task>?>.allocate(capacity: count)
        for (index, handler) in plugin.handlers.enumerated() {
            (tasks + index).initialize(to: HandlerEntry.table(of: handler))
        }
        pointer = immortal(
            bg_plugin(
                size: UInt32(MemoryLayout<bg_plugin>.size),
                abi_major: UInt16(BG_ABI_MAJOR),
                min_host_minor: 0,
                id: immortal(plugin.id),
                version: immortal(plugin.version),
                vendor: immortal(plugin.vendor),
                flags: 0,
                n_tasks: UInt32(count),
                tasks: UnsafePointer(tasks),
                open: { PluginInstance.open($0, config: $1, into: $2) },
                drain: nil,
                close: { PluginInstance.close($0) }
            )
        )
    }
}

func immortal<Value>(_ value: Value) -> UnsafePointer<Value> {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    pointer.initialize(to: value)
    return UnsafePointer(pointer)
}

func immortal(_ text: String) -> bg_str {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    bytes.copyBytes(from: text.utf8)
    return bg_str(UnsafeRawBufferPointer(bytes))
}
