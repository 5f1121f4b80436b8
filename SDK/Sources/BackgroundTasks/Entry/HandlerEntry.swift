// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// Finds the handler of a run for the C functions that all handlers share.
///
/// A C function cannot capture values, so the host identifies the handler of a run by the address
/// of the handler's table.
enum HandlerEntry {
    private static let handlers = Mutex<[UInt: Handler]>([:])

    /// Creates the C table of a handler, which is never freed.
    static func table(of handler: Handler) -> UnsafePointer<bg_task> {
        let table = immortal(
            bg_task(
                size: UInt32(MemoryLayout<bg_task>.size),
                // A handler starts on the host's thread and may block it: see `Run.start`.
                flags: handler.options.rawValue & HandlerOptions.known | UInt32(BG_TASK_MAY_BLOCK),
                handler: immortal(handler.name),
                params_schema: handler.schema.isEmpty
                    ? bg_str(ptr: nil, len: 0) : immortal(handler.schema),
                start: { HandlerEntry.start($0, $1) },
                cancel: { HandlerEntry.cancel($0, $1, $3) },
                // Without this function, the host frees the run's slot as soon as the run is
                // complete.
                release: nil
            )
        )
        handlers.withLock { $0[UInt(bitPattern: table)] = handler }
        return table
    }

    private static func start(
        _ instance: UnsafeMutableRawPointer?,
        _ info: UnsafePointer<bg_run_info>?
    ) -> bg_status {
        guard let instance, let info else { return BG_E_ARG }
        let plugin = PluginInstance.at(instance)
        // Check the size first: memory beyond it must not be read.
        guard let offset = MemoryLayout<bg_run_info>.offset(of: \.task),
            Int(info.pointee.size) >= offset + MemoryLayout<UInt>.size
        else {
            plugin.host.log(
                .error,
                "a run cannot begin: this bghost does not say which handler it is for, as ABI 1.0 "
                    + "demands; its bg_run_info has \(info.pointee.size) bytes. Update bghost"
            )
            return BG_E_FAILED
        }
        let handler = handlers.withLock { $0[UInt(bitPattern: info.pointee.task)] }
        guard let handler else {
            plugin.host.log(
                .error,
                "a run cannot begin: bg_run_info.task is not one of this plugin's handlers",
                run: info.pointee.run
            )
            return BG_E_FAILED
        }
        return Run.start(handler, of: plugin, info.pointee)
    }

    private static func cancel(_ instance: UnsafeMutableRawPointer?, _ run: bg_run, _ why: UInt32) {
        guard let instance else { return }
        PluginInstance.at(instance).run(run)?.cancel(why)
    }
}
