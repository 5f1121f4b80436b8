// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Glibc
internal import Synchronization

/// The services that a plugin runs on the main thread of its process.
struct MainServices: @unchecked Sendable {
    // @unchecked: the contexts belong to the plugin and are only passed back to it.

    struct Service {
        let descriptor: Int32
        let call: @convention(c) (UnsafeMutableRawPointer?) -> Void
        let context: UnsafeMutableRawPointer?
    }

    static let servicesMax = 8

    /// Whether the plugin is currently in open().
    var isOpen = false
    var services: [Service] = []
}

/// The extension `bghost.main/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_main>) {
        table.pointee.size = UInt32(MemoryLayout<bg_main>.size)
        table.pointee.serve = { host, descriptor, call, context in
            guard let runtime = PluginRuntime.of(host), let call else { return BG_E_ARG }
            return runtime.mainServices.withLock { main in
                guard main.isOpen, descriptor >= 0 else { return BG_E_ARG }
                guard main.services.count < MainServices.servicesMax else { return BG_E_LIMIT }
                main.services.append(
                    MainServices.Service(descriptor: descriptor, call: call, context: context)
                )
                return BG_OK
            }
        }
    }

    /// Whether the plugin uses the main thread.
    package var wantsMain: Bool { mainServices.withLock { !$0.services.isEmpty } }

    /// The plugin's main-thread services, for the thread that loaded it; `nil` if it has none.
    ///
    /// - Parameter wake: a descriptor that ends a wait once it is readable; -1 for none.
    package func mainServing(wake: Int32 = -1) -> MainServing? {
        let services = mainServices.withLock { $0.services }
        return services.isEmpty ? nil : MainServing(services, wake: wake)
    }

    /// Runs the plugin's main-thread services as long as the process lives.
    ///
    /// Call it on the thread that loaded the plugin, because some libraries are bound to that
    /// thread. Runs start on another thread.
    package func serveMain() -> Never {
        var serving = MainServing(mainServices.withLock { $0.services }, wake: -1)
        while true { serving.wait(milliseconds: -1) }
    }
}

/// Runs a plugin's main-thread services; only the thread that loaded the plugin may use it.
package struct MainServing: @unchecked Sendable {
    // @unchecked: the contexts are the plugin's and are only handed back to it.
    private let services: [MainServices.Service]
    /// The descriptors of the services, followed by the one that ends a wait.
    private var polled: [pollfd]

    fileprivate init(_ services: [MainServices.Service], wake: Int32) {
        self.services = services
        polled = (services.map(\.descriptor) + [wake]).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
    }

    /// Waits until a descriptor is readable, and calls the services whose descriptors are.
    ///
    /// - Parameter milliseconds: the longest wait; below 0 waits without a limit.
    package mutating func wait(milliseconds: Int32) {
        guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return }
        for (index, service) in services.enumerated() where polled[index].revents != 0 {
            if polled[index].revents & Int16(POLLIN) != 0 {
                service.call(service.context)
            } else {
                // The plugin closed the descriptor, which violates the contract; poll() ignores
                // negative ones.
                polled[index].fd = -1
            }
        }
    }
}
