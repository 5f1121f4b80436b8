// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// A plugin between `open` and `close`: its host and its configuration.
final class PluginInstance: Sendable {
    let host: Host
    /// The plugin's `config` of `tasks.json`, a JSON object.
    let config: String
    /// The source of executors for handlers, if the host supplies one.
    let executors: (@Sendable (_ run: UInt64) -> (any TaskExecutor)?)?
    /// The runs that the host may still cancel.
    private let runs = Mutex<[bg_run: Run]>([:])

    private init(host: Host, config: String) {
        self.host = host
        self.config = config
        executors = HandlerExecutors.source
    }

    static func open(
        _ host: UnsafePointer<bg_host>?,
        config: bg_str,
        into instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> bg_status {
        guard let host = host.flatMap({ Host($0) }), let instance else { return BG_E_ARG }
        // This outlives the instance on purpose: calls of code that is still running then return
        // BG_E_CLOSED.
        Host.latest.withLock { $0 = host }
        // The host opens an instance once.
        _ = Host.open.withLock { $0.insert(UInt(bitPattern: host.pointer)) }
        MainThread.offer(to: host)
        let made = PluginInstance(host: host, config: String(config))
        instance.pointee = Unmanaged.passRetained(made).toOpaque()
        return BG_OK
    }

    static func close(_ instance: UnsafeMutableRawPointer?) {
        guard let instance else { return }
        let closed = Unmanaged<PluginInstance>.fromOpaque(instance).takeRetainedValue()
        // `open` added it.
        _ = Host.open.withLock { $0.remove(UInt(bitPattern: closed.host.pointer)) }
    }

    /// The instance that a call of the host refers to.
    static func at(_ instance: UnsafeMutableRawPointer) -> PluginInstance {
        Unmanaged<PluginInstance>.fromOpaque(instance).takeUnretainedValue()
    }

    func add(_ run: Run, _ number: bg_run) { runs.withLock { $0[number] = run } }

    // `start` added it.
    func remove(_ number: bg_run) { _ = runs.withLock { $0.removeValue(forKey: number) } }

    func run(_ number: bg_run) -> Run? { runs.withLock { $0[number] } }
}
