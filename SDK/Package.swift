// swift-tools-version: 6.3
import PackageDescription

let swift: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// A module of the host, by the link to its sources: a package has no files outside of its folder.
func host(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "TestHost/\(name)",
        swiftSettings: swift + [.enableExperimentalFeature("Lifetimes")]
    )
}

// A package of its own, so that a handler's author neither fetches nor builds anything of the host.
// Keep it free of dependencies: they would be every author's. Warnings are errors in the root package
// only: a newer compiler's must not break a handler's build.
let package = Package(
    name: "bghost-sdk",
    products: [
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        // Apple's names, in modules of Apple's names. Handlers that use none of them need none of these.
        .library(name: "BackgroundFoundation", targets: ["BackgroundFoundation"]),
        .library(name: "UserNotifications", targets: ["UserNotifications"]),
        .library(name: "UIKit", targets: ["UIKit"]),
        .library(name: "SwiftUI", targets: ["SwiftUI"]),
        // For targets of tests that import UIKit or SwiftUI beside swift-testing.
        .library(name: "TestingUIKit", targets: ["_Testing_UIKit"]),
        .library(name: "CBghost", targets: ["CBghost"]),
        // The host for tests of handlers, and the modules of bghost that it needs. Only a target of tests
        // that imports it builds them.
        .library(name: "BackgroundTasksTesting", targets: ["BackgroundTasksTesting"]),
    ],
    targets: [
        .target(name: "CBghost", cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "BackgroundTasks", dependencies: ["CBghost"], swiftSettings: swift),
        .target(
            name: "BackgroundFoundation",
            dependencies: ["BackgroundTasks", "CBghost"],
            swiftSettings: swift
        ),
        .target(
            name: "UserNotifications",
            dependencies: ["BackgroundFoundation", "BackgroundTasks", "CBghost"],
            swiftSettings: swift
        ),
        .target(name: "CBghostApp"),
        .target(
            name: "UIKit",
            dependencies: [
                "BackgroundFoundation", "BackgroundTasks", "CBghostApp", "UserNotifications",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "SwiftUI",
            dependencies: ["BackgroundFoundation", "BackgroundTasks", "UIKit"],
            swiftSettings: swift
        ),
        .target(name: "_Testing_UIKit", dependencies: ["UIKit"], swiftSettings: swift),

        .target(
            name: "CBghostSystem",
            path: "TestHost/CBghostSystem",
            cSettings: [.define("_GNU_SOURCE")]
        ),
        host("BghostBase"),
        host("BghostWire"),
        host("BghostCalendar", ["BghostBase"]),
        host("BghostFacts", ["BghostBase"]),
        host("BghostFunctions", ["BghostBase"]),
        host("BghostSchemas", ["BghostBase"]),
        host("BghostModel", ["BghostBase", "BghostCalendar", "BghostFacts"]),
        host(
            "BghostManifest",
            [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostFunctions", "BghostModel",
                "BghostSchemas",
            ]
        ),
        host("BghostNotify", ["BghostBase", "BghostCalendar", "BghostModel"]),
        host(
            "BghostPolicy",
            ["BghostBase", "BghostCalendar", "BghostFacts", "BghostModel", "BghostNotify"]
        ),
        host("BghostLinux", ["BghostBase", "BghostFacts", "BghostModel", "CBghostSystem"]),
        host(
            "BghostPlugin",
            [
                "BghostBase", "BghostFunctions", "BghostModel", "BghostWire", "CBghost",
                "CBghostSystem",
            ]
        ),
        host(
            "BackgroundTasksTesting",
            [
                "BackgroundTasks", "BghostBase", "BghostCalendar", "BghostFacts", "BghostLinux",
                "BghostManifest", "BghostModel", "BghostPlugin", "BghostPolicy", "BghostSchemas",
                "BghostWire", "CBghost",
            ]
        ),
    ]
)
