// SPDX-License-Identifier: Apache-2.0

internal import CBghost
// Imported so that its library is linked: it has the functions below.
internal import Dispatch
internal import Synchronization

/// The main thread of a worker, which the plugin may use.
///
/// Swift's main actor and `DispatchQueue.main` use libdispatch's main queue, which is bound to the
/// thread that loaded libdispatch: for a plugin that contains the runtime (`-static-stdlib`) the
/// thread that loaded the plugin. The host gets the queue's descriptor and drains the queue on that
/// thread, as a run loop does.
package enum MainThread {
    private static let served = Atomic<Bool>(false)

    /// Whether the host drains the main queue.
    package static var isServed: Bool { served.load(ordering: .acquiring) }

    /// Asks the host to serve the main queue.
    ///
    /// Call it in open().
    static func offer(to host: Host) {
        guard let table = host.extension(BG_EXT_MAIN, as: bg_main.self),
            let serve = table.serve
        else { return }
        let descriptor = mainQueueDescriptor()
        let status = serve(host.pointer, descriptor, { _ in MainThread.drain() }, nil)
        guard status == BG_OK else {
            return host.log(
                .warning,
                "the host does not serve the main actor: it answers \(status)"
            )
        }
        served.store(true, ordering: .releasing)
    }

    private static func drain() {
        var count: UInt64 = 0
        // Read the event before draining; otherwise work that is added meanwhile would go
        // unnoticed. It is a non-blocking eventfd; draining an empty queue is harmless.
        _ = readEvents(mainQueueDescriptor(), &count, MemoryLayout<UInt64>.size)
        drainMainQueue(nil)
    }
}

// The functions that Foundation's run loop uses on Linux.

@_silgen_name("_dispatch_get_main_queue_handle_4CF")
private func mainQueueDescriptor() -> Int32

@_silgen_name("_dispatch_main_queue_callback_4CF")
private func drainMainQueue(_ message: UnsafeMutableRawPointer?)

@_silgen_name("read")
private func readEvents(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int
