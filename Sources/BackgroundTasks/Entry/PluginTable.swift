// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// The C table of a plugin, in memory that is never freed: the host may read it for as long as the
/// process lives.
struct TablePointer: @unchecked Sendable {
    /// Written by `init` and only read from then on, which is why threads may share it.
    let pointer: UnsafePointer<bg_plugin>

    /// Makes the table; `nil` if the plugin has no handlers or too many.
    init?(_ plugin: Plugin) {
        guard let starts = HandlerSlots.take(plugin.handlers) else { return nil }
        let tasks = UnsafeMutablePointer<UnsafePointer<bg_task>?>.allocate(capacity: starts.count)
        for (index, handler) in plugin.handlers.enumerated() {
            (tasks + index).initialize(to: immortal(handler.table(start: starts[index])))
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
                n_tasks: UInt32(starts.count),
                tasks: UnsafePointer(tasks),
                open: { PluginInstance.open($0, config: $1, into: $2) },
                drain: nil,
                close: { PluginInstance.close($0) }
            )
        )
    }
}

extension Handler {
    fileprivate func table(start: HandlerSlots.Start) -> bg_task {
        bg_task(
            size: UInt32(MemoryLayout<bg_task>.size),
            flags: options.rawValue & HandlerOptions.known,
            handler: immortal(name),
            params_schema: bg_str(ptr: nil, len: 0),
            start: start,
            cancel: { _, _, state, why in Run.cancel(state, why: why) },
            release: { _, _, state in Run.release(state) }
        )
    }
}

private func immortal<Value>(_ value: Value) -> UnsafePointer<Value> {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    pointer.initialize(to: value)
    return UnsafePointer(pointer)
}

private func immortal(_ text: String) -> bg_str {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    bytes.copyBytes(from: text.utf8)
    return bg_str(UnsafeRawBufferPointer(bytes))
}
