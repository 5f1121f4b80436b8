// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghost
internal import Glibc

/// The tables of the extensions, which are the same for every plugin and are never freed.
struct ExtensionTables: @unchecked Sendable {
    // @unchecked: written once, before the first reader.
    private let tables: [HostExtension: UnsafeRawPointer]

    static let shared = ExtensionTables()

    private init() {
        var tables: [HostExtension: UnsafeRawPointer] = [:]
        for name in HostExtension.allCases { tables[name] = Self.table(of: name) }
        self.tables = tables
    }

    /// The table of an extension.
    subscript(name: HostExtension) -> UnsafeRawPointer? { tables[name] }

    private static func table(of name: HostExtension) -> UnsafeRawPointer {
        switch name {
        case .schedule: make(bg_schedule(), PluginRuntime.fill)
        case .status: make(bg_statuses(), PluginRuntime.fill)
        case .run: make(bg_runs(), PluginRuntime.fill)
        case .checkpoint: make(bg_checkpoints(), PluginRuntime.fill)
        case .main: make(bg_main(), PluginRuntime.fill)
        case .fetch: make(bg_fetches(), PluginRuntime.fill)
        case .transfer: make(bg_transfers(), PluginRuntime.fill)
        case .wake: make(bg_wakes(), PluginRuntime.fill)
        case .notify: make(bg_notifier(), PluginRuntime.fill)
        case .clock: make(bg_clock(), PluginRuntime.fill)
        case .trace: make(bg_traces(), PluginRuntime.fill)
        }
    }

    private static func make<Table>(
        _ table: Table,
        _ fill: (UnsafeMutablePointer<Table>) -> Void
    ) -> UnsafeRawPointer {
        let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        pointer.initialize(to: table)
        fill(pointer)
        return UnsafeRawPointer(pointer)
    }
}

extension PluginRuntime {
    /// The table that `extension()` of the host returns.
    ///
    /// - Parameter name: the plugin's, compared without reading past its end.
    func extensionTable(named name: UnsafePointer<CChar>) -> UnsafeRawPointer? {
        guard let known = HostExtension.allCases.first(where: { strcmp(name, $0.rawValue) == 0 })
        else { return nil }
        switch known {
        case .main where !options.servesMain: return nil
        // The time of workers is the machine's; only test hosts move it.
        case .clock where options.clock == nil: return nil
        default: return ExtensionTables.shared[known]
        }
    }
}
