// SPDX-License-Identifier: Apache-2.0

/// Who imports whom: the modules that ship, each after all that it imports, so there is no cycle.
///
/// `ModuleTests` compares this table with the sources, with `Package.swift` and with
/// `docs/MODULES.md`.
enum ModuleTable {
    struct Module: Sendable {
        var name: String
        /// The project's own modules that it imports, sorted.
        var imports: [String]

        init(_ name: String, _ imports: [String] = []) {
            self.name = name
            self.imports = imports
        }
    }

    /// The most lines of Swift in one module, comments included.
    static let linesMax = 10_000

    static let modules: [Module] = [
        Module("CBghost"),
        Module("BackgroundTasks", ["CBghost"]),
        Module("BackgroundFoundation", ["BackgroundTasks", "CBghost"]),
        Module("UserNotifications", ["BackgroundFoundation", "BackgroundTasks", "CBghost"]),
        Module("CBghostApp"),
        Module(
            "UIKit",
            ["BackgroundFoundation", "BackgroundTasks", "CBghostApp", "UserNotifications"]
        ),
        Module("SwiftUI", ["BackgroundFoundation", "BackgroundTasks", "UIKit"]),
        Module("_Testing_UIKit", ["UIKit"]),
        Module("BghostBase"),
        Module("BghostWire"),
        Module("BghostCalendar", ["BghostBase"]),
        Module("BghostFacts", ["BghostBase"]),
        Module("BghostFunctions", ["BghostBase"]),
        Module("BghostSchemas", ["BghostBase"]),
        Module("BghostTransferRules", ["BghostBase"]),
        Module("BghostModel", ["BghostBase", "BghostCalendar", "BghostFacts"]),
        Module(
            "BghostManifest",
            [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostFunctions", "BghostModel",
                "BghostSchemas",
            ]
        ),
        Module("BghostMetrics", ["BghostBase", "BghostModel"]),
        Module("BghostNotify", ["BghostBase", "BghostCalendar", "BghostModel"]),
        Module(
            "BghostPolicy",
            [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel", "BghostNotify",
            ]
        ),
        Module(
            "BghostSimulation",
            [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel", "BghostPolicy",
            ]
        ),
        Module("BghostFleetRules", ["BghostBase", "BghostModel", "BghostPolicy"]),
        Module(
            "BghostAPI",
            [
                "BghostBase", "BghostFacts", "BghostMetrics", "BghostModel", "BghostNotify",
                "BghostPolicy",
                "BghostTransferRules",
            ]
        ),
        Module("BghostAlerts", ["BghostBase", "BghostModel"]),
        Module("CBghostSystem"),
        Module("CBghostPage"),
        Module("CFFI"),
        Module("CSQLite"),
        Module("CSodium"),
        Module("BghostLinux", ["BghostBase", "BghostFacts", "BghostModel", "CBghostSystem"]),
        Module(
            "BghostSandbox",
            ["BghostBase", "BghostLinux", "BghostModel", "BghostWire", "CBghostSystem"]
        ),
        Module(
            "BghostPlugin",
            [
                "BghostBase", "BghostFunctions", "BghostModel", "BghostWire", "CBghost",
                "CBghostSystem",
            ]
        ),
        Module(
            "BghostFunctionCalls",
            [
                "BghostBase", "BghostFunctions", "BghostPlugin", "CBghost", "CBghostSystem", "CFFI",
            ]
        ),
        Module("BghostCrypto"),
        Module("BghostTrust", ["BghostBase", "BghostCrypto", "BghostLinux"]),
        Module("BghostAudit", ["BghostCrypto", "BghostModel"]),
        Module(
            "BghostStore",
            [
                "BghostAudit", "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel",
                "BghostNotify", "BghostPolicy", "BghostTransferRules", "CBghostSystem", "CSQLite",
            ]
        ),
        Module(
            "BghostTransfer",
            [
                "BghostBase", "BghostCrypto", "BghostLinux", "BghostMetrics",
                "BghostTransferRules",
            ]
        ),
        Module("BghostFleet", ["BghostBase", "BghostLinux", "BghostModel"]),
        Module(
            "BghostFleetStore",
            ["BghostBase", "BghostFleet", "BghostFleetRules", "BghostModel"]
        ),
        Module(
            "BghostServices",
            ["BghostBase", "BghostLinux", "BghostModel", "BghostStore", "BghostTrust"]
        ),
        Module(
            "BghostTransferBridge",
            [
                "BghostBase", "BghostLinux", "BghostModel", "BghostServices", "BghostTransfer",
                "BghostTransferRules", "BghostWire",
            ]
        ),
        Module(
            "BghostBackup",
            ["BghostBase", "BghostLinux", "BghostServices", "BghostStore", "BghostTransferRules"]
        ),
        Module(
            "BghostLogFiles",
            [
                "BghostAPI", "BghostBase", "BghostLinux", "BghostModel", "BghostServices",
                "BghostTrust",
            ]
        ),
        Module(
            "BghostDispatch",
            [
                "BghostAPI", "BghostAlerts", "BghostAudit", "BghostBackup", "BghostBase",
                "BghostCalendar", "BghostCrypto", "BghostFacts", "BghostFleetRules", "BghostLinux",
                "BghostMetrics", "BghostModel", "BghostNotify", "BghostPolicy", "BghostSchemas",
                "BghostServices", "BghostSimulation", "BghostStore", "BghostTransferRules",
            ]
        ),
        Module(
            "BghostAlertTransport",
            [
                "BghostAlerts", "BghostBase", "BghostCrypto", "BghostDispatch", "BghostLinux",
                "BghostModel", "BghostTransfer",
            ]
        ),
        Module(
            "BghostTraces",
            ["BghostBase", "BghostLinux", "BghostModel", "BghostServices", "BghostTransfer"]
        ),
        Module(
            "BghostConfiguration",
            [
                "BghostBase", "BghostDispatch", "BghostFacts", "BghostLinux", "BghostManifest",
                "BghostModel", "BghostServices", "BghostStore", "BghostTransfer",
                "BghostTransferRules",
            ]
        ),
        Module(
            "BghostInspection",
            [
                "BghostBase", "BghostLinux", "BghostModel", "BghostPlugin", "BghostSandbox",
                "BghostSchemas", "BghostServices", "BghostTrust", "BghostWire",
            ]
        ),
        Module(
            "BghostHost",
            [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostConfiguration",
                "BghostDispatch", "BghostFacts",
                "BghostInspection", "BghostLinux", "BghostMetrics", "BghostModel",
                "BghostNotify", "BghostPlugin", "BghostPolicy", "BghostSandbox", "BghostServices",
                "BghostStore", "BghostTransfer", "BghostTransferBridge", "BghostTransferRules",
                "BghostTrust", "BghostWire",
            ]
        ),
        Module(
            "BghostControl",
            [
                "BghostAPI", "BghostBase", "BghostCrypto", "BghostLinux", "BghostMetrics",
                "BghostModel", "BghostNotify", "BghostPolicy", "CBghostPage",
            ]
        ),
        Module(
            "BghostCheck",
            [
                "BghostBase", "BghostLinux", "BghostPlugin", "BghostSchemas", "BghostTrust",
                "BghostWire", "CBghost", "CBghostSystem",
            ]
        ),
        Module(
            "BghostBundle",
            [
                "BghostBase", "BghostCrypto", "BghostLinux", "BghostManifest", "BghostModel",
                "BghostTrust",
            ]
        ),
        Module("CBghostTemplates"),
        Module("BghostTemplates", ["CBghostTemplates"]),
        Module("BghostTerminal"),
        Module(
            "BghostViews",
            [
                "BghostAPI", "BghostBase", "BghostFacts", "BghostModel", "BghostNotify",
                "BghostPolicy", "BghostSimulation", "BghostTerminal",
            ]
        ),
        Module(
            "BghostCommandLine",
            [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostControl", "BghostFunctionCalls",
                "BghostInspection", "BghostLinux", "BghostManifest", "BghostModel",
                "BghostServices", "BghostStore", "BghostTerminal", "BghostTransferRules",
                "BghostTrust",
            ]
        ),
        Module(
            "BghostPluginCommand",
            [
                "BghostAPI", "BghostBase", "BghostBundle", "BghostCheck", "BghostCommandLine",
                "BghostConfiguration", "BghostControl", "BghostFacts", "BghostHost",
                "BghostInspection", "BghostLinux",
                "BghostManifest", "BghostModel", "BghostPlugin", "BghostPolicy", "BghostSchemas",
                "BghostServices", "BghostStore", "BghostTemplates", "BghostTerminal",
                "BghostTransfer", "BghostTransferRules", "BghostTrust", "BghostViews",
            ]
        ),
        Module(
            "BghostCommand",
            [
                "BghostAPI", "BghostAlertTransport", "BghostBackup", "BghostBase", "BghostCalendar",
                "BghostCommandLine", "BghostConfiguration", "BghostControl", "BghostDispatch",
                "BghostFacts", "BghostFleet", "BghostFleetStore", "BghostHost", "BghostInspection",
                "BghostLinux",
                "BghostLogFiles", "BghostManifest", "BghostModel", "BghostPlugin",
                "BghostPluginCommand",
                "BghostPolicy", "BghostSandbox", "BghostServices", "BghostSimulation",
                "BghostStore", "BghostTerminal", "BghostTraces", "BghostTransfer",
                "BghostTransferRules", "BghostViews",
            ]
        ),
        Module(
            "BackgroundTasksTesting",
            [
                "BackgroundTasks", "BghostBase", "BghostCalendar", "BghostFacts", "BghostLinux",
                "BghostManifest", "BghostModel", "BghostPlugin", "BghostPolicy", "BghostSchemas",
                "BghostWire", "CBghost",
            ]
        ),
        Module("CBghostCommands"),
        Module("bghost", ["BghostCheck", "BghostCommand", "CBghostCommands"]),
        Module(
            "bghost-worker",
            [
                "BghostFunctionCalls", "BghostLinux", "BghostModel", "BghostPlugin",
                "BghostSandbox", "BghostWire", "CBghostSystem",
            ]
        ),
        Module("StormyStation"),
        Module("stormy-station", ["StormyStation"]),
    ]
}
