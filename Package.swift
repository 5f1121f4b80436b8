// swift-tools-version: 6.3
import PackageDescription

// One place for the settings of every Swift target. Warnings are errors here and not on the command
// line, so that they never reach the dependencies.
let sdk: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]
/// For everything but the SDK, whose users may depend on it by version and get no unsafe flags.
///
/// Exclusive access is checked at compile time, and at run time in debug builds and tests only: the checks are
/// a tenth of the instructions of a run (docs/adr/0825-shipped-programs.md).
let swift: [SwiftSetting] =
    sdk + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]
/// Optimizes a module in which the tests compute much in debug builds too, and keeps its assertions.
///
/// Property tests run hundreds of thousands of steps through most of them, and the tidy tests read the whole
/// repository a hundred times. `BGHOST_UNOPTIMIZED=1` builds them for a debugger. The helpers of tests are
/// optimized too: hundreds of tests hash the sources of their plugins.
let optimized: [SwiftSetting] =
    Context.environment["BGHOST_UNOPTIMIZED"] == nil
    ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []

let c: [CSetting] = [
    .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
    .define("_GNU_SOURCE"),
]

/// For the programs as they are shipped, and as the tests start them ten thousand times.
///
/// Swift's static runtime asks for every symbol to be exported, which only makes them larger and lets
/// a plugin inside the daemon bind to the daemon's own code; and most of what the loader has to read
/// before `main` are relative relocations, which lld packs and gold does not.
///
/// `Scripts/release` asks SwiftPM for the static runtime. A debug build is compiled for the shared one, which the
/// tests' own program needs: so the flags here name the parts of it that the compiled files do not. With 18,000 symbols
/// of shared libraries to look up, such a program took half as long again to start. No test target depends on the
/// programs, since it would be linked by the same flags.
let program: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--no-export-dynamic", "-Xclang-linker", "-static-libgcc",
        ],
        Context.environment["BGHOST_UNOPTIMIZED"] == nil ? nil : .when(configuration: .release)
    ),
    .unsafeFlags(
        Context.environment["BGHOST_UNOPTIMIZED"] == nil
            ? ["-static-stdlib", "-l_FoundationCShims", "-l_FoundationCollections"] : [],
        .when(configuration: .debug)
    ),
]

/// For programs whose commands the tests check (docs/adr/0628-command-checks-in-tests.md).
///
/// In debug builds, the parser of the command line checks the declarations of a command several times at
/// each start, which is half of the processor time of `bghost status`. CBghostCommands has the function
/// that is called instead; without the function of this name, the linker changes nothing.
let commands: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-Xlinker",
            "--wrap=$s14ArgumentParser17ParsableArgumentsPAAE9_validate6parentyAA8InputKeyVSg_tKFZ",
        ],
        .when(configuration: .debug)
    )
]

/// For the plugins as they are shipped, as docs/HANDLERS.md says.
///
/// They carry the Swift runtime inside, because Swift has no stable ABI on Linux; and what is undefined
/// in them is an error of the link and not of the host that loads them.
let library: [LinkerSetting] = [
    .unsafeFlags(
        ["-static-stdlib", "-Xlinker", "-z", "-Xlinker", "defs"],
        .when(configuration: .release)
    )
]

/// A sample plugin: an ordinary target that is shipped as one library.
func plugin(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    path: String? = nil
) -> Target {
    .target(
        name: name,
        dependencies: ["BackgroundTasks"] + dependencies,
        path: path ?? "Plugins/\(name)",
        swiftSettings: swift,
        linkerSettings: library
    )
}

/// The articles that handlers are written after: each listing as a plugin, its text unchanged.
///
/// They are of their time: Swift 5, and with what newer compilers warn of.
let seeds = [
    "Seed001Background", "Seed001Launch", "Seed001Notify", "Seed001Refresh", "Seed001Schedule",
    "Seed001Shared", "Seed001Stormy", "Seed002App", "Seed002Download", "Seed002Legacy",
    "Seed002Optional", "Seed002Requests", "Seed003Phase", "Seed003Refresh", "Seed003Session",
    "Seed004Refresh", "Seed004Training",
]

func seed(_ name: String) -> Target {
    .target(
        name: name,
        dependencies: [
            "BackgroundFoundation", "BackgroundTasks", "SeedScaffold", "SwiftUI", "UIKit",
            "UserNotifications",
        ],
        path: "Tests/Seeds/\(name)",
        swiftSettings: [
            .enableUpcomingFeature("InternalImportsByDefault"),
            .swiftLanguageMode(.v5),
            .unsafeFlags(["-suppress-warnings"]),
        ]
    )
}

/// The apps of Examples/ios: their source stands as it does on iOS, and this is what that needs.
let apps = ["Habits", "PhotoBackup", "Podcasts"]
let appFlags = SwiftSetting.unsafeFlags([
    "-module-alias", "Foundation=BackgroundFoundation",
    "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bghost_app_main",
])

func app(_ name: String) -> Target {
    .target(
        name: name,
        dependencies: [
            "BackgroundFoundation", "BackgroundTasks", "SwiftUI", "UIKit", "UserNotifications",
        ],
        path: "Examples/ios/Sources/\(name)",
        swiftSettings: [appFlags, .swiftLanguageMode(.v5)]
    )
}

let package = Package(
    name: "bghost",
    products: [
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        .library(name: "BackgroundFoundation", targets: ["BackgroundFoundation"]),
        .library(name: "UserNotifications", targets: ["UserNotifications"]),
        .library(name: "UIKit", targets: ["UIKit"]),
        .library(name: "SwiftUI", targets: ["SwiftUI"]),
        // For targets of tests that import UIKit or SwiftUI beside swift-testing.
        .library(name: "TestingUIKit", targets: ["_Testing_UIKit"]),
        .library(name: "BackgroundTasksTesting", targets: ["BackgroundTasksTesting"]),
        .library(name: "WeatherCheck", type: .dynamic, targets: ["WeatherCheck"]),
        .library(name: "PhotoUpload", type: .dynamic, targets: ["PhotoUpload"]),
        .library(name: "Notifier", type: .dynamic, targets: ["Notifier"]),
        .library(name: "Overrun", type: .dynamic, targets: ["Overrun"]),
        .library(name: "Report", type: .dynamic, targets: ["Report"]),
        .library(name: "SeedPlugin", type: .dynamic, targets: ["SeedPlugin"]),
        .library(name: "Habits", type: .dynamic, targets: ["Habits"]),
        .library(name: "PhotoBackup", type: .dynamic, targets: ["PhotoBackup"]),
        .library(name: "Podcasts", type: .dynamic, targets: ["Podcasts"]),
        .library(name: "RuntimePlugin", type: .dynamic, targets: ["RuntimePlugin"]),
        .library(name: "BenchSwift", type: .dynamic, targets: ["BenchSwift"]),
        .executable(name: "bghost", targets: ["bghost"]),
        .executable(name: "bghost-bench", targets: ["bghost-bench"]),
        .executable(name: "bghost-worker", targets: ["bghost-worker"]),
        .executable(name: "stormy-station", targets: ["stormy-station"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        // The next minor version may hide or rename what BghostCrypto calls: docs/adr/0816-one-boringssl.md.
        .package(
            url: "https://github.com/apple/swift-nio-ssl",
            .upToNextMinor(from: "2.37.6")
        ),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            from: "2.28.1",
            traits: []
        ),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
    ],
    targets: [
        // The public ABI and the SDK: what third parties depend on. Neither knows the host. SDK/ is a
        // package too, without a dependency; one that depended on it by path could not be depended on
        // by version.
        .target(name: "CBghost", path: "SDK/Sources/CBghost", cSettings: c),
        .target(
            name: "BackgroundTasks",
            dependencies: ["CBghost"],
            path: "SDK/Sources/BackgroundTasks",
            swiftSettings: sdk
        ),
        // Of SDK/Adapters, a package of its own, since it has a dependency.
        .target(
            name: "BackgroundTasksLogging",
            dependencies: ["BackgroundTasks", .product(name: "Logging", package: "swift-log")],
            path: "SDK/Adapters/Sources/BackgroundTasksLogging",
            swiftSettings: sdk
        ),
        .target(
            name: "BackgroundFoundation",
            dependencies: ["BackgroundTasks", "CBghost"],
            path: "SDK/Sources/BackgroundFoundation",
            swiftSettings: sdk
        ),
        .target(
            name: "UserNotifications",
            dependencies: ["BackgroundFoundation", "BackgroundTasks", "CBghost"],
            path: "SDK/Sources/UserNotifications",
            swiftSettings: sdk
        ),
        .target(name: "CBghostApp", path: "SDK/Sources/CBghostApp", cSettings: c),
        .target(
            name: "UIKit",
            dependencies: [
                "BackgroundFoundation", "BackgroundTasks", "CBghostApp", "UserNotifications",
            ],
            path: "SDK/Sources/UIKit",
            swiftSettings: sdk
        ),
        .target(
            name: "SwiftUI",
            dependencies: ["BackgroundFoundation", "BackgroundTasks", "UIKit"],
            path: "SDK/Sources/SwiftUI",
            swiftSettings: sdk
        ),
        .target(
            name: "_Testing_UIKit",
            dependencies: ["UIKit"],
            path: "SDK/Sources/_Testing_UIKit",
            swiftSettings: sdk
        ),

        // Pure: no I/O and no clock. Only BghostAPI uses Foundation, for its JSON.
        .target(name: "BghostBase", dependencies: [], swiftSettings: swift + optimized),
        .target(
            name: "BghostCalendar",
            dependencies: ["BghostBase"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostFacts",
            dependencies: ["BghostBase"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostModel",
            dependencies: ["BghostBase", "BghostCalendar", "BghostFacts"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostFunctions",
            dependencies: ["BghostBase"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostSchemas",
            dependencies: ["BghostBase"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostManifest",
            dependencies: [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostFunctions", "BghostModel",
                "BghostSchemas",
            ],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostMetrics",
            dependencies: ["BghostBase", "BghostModel"],
            swiftSettings: swift
        ),
        .target(
            name: "BghostNotify",
            dependencies: ["BghostBase", "BghostCalendar", "BghostModel"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostTransferRules",
            dependencies: ["BghostBase"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostPolicy",
            dependencies: [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel", "BghostNotify",
            ],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostSimulation",
            dependencies: [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel", "BghostPolicy",
            ],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostFleetRules",
            dependencies: ["BghostBase", "BghostModel", "BghostPolicy"],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostAPI",
            dependencies: [
                "BghostBase", "BghostFacts", "BghostMetrics", "BghostModel", "BghostNotify",
                "BghostPolicy", "BghostTransferRules",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostWire",
            swiftSettings: swift + [.enableExperimentalFeature("Lifetimes")]
        ),

        // Where the host meets the machine and the plugin.
        .target(name: "CBghostSystem", cSettings: c),
        // The pages of the dashboard, which the compiler embeds.
        .target(name: "CBghostPage", exclude: ["page"], cSettings: c),
        .systemLibrary(name: "CFFI", pkgConfig: "libffi", providers: [.apt(["libffi-dev"])]),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(
            name: "CSodium",
            pkgConfig: "libsodium",
            providers: [.apt(["libsodium-dev"])]
        ),
        .target(
            name: "BghostLinux",
            dependencies: ["BghostBase", "BghostFacts", "BghostModel", "CBghostSystem"],
            swiftSettings: swift
        ),
        .target(
            name: "BghostSandbox",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostModel", "BghostWire", "CBghostSystem",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostPlugin",
            dependencies: [
                "BghostBase", "BghostFunctions", "BghostModel", "BghostWire", "CBghost",
                "CBghostSystem",
            ],
            swiftSettings: swift
        ),
        // Apart from BghostPlugin, so that authors' tests of handlers need no libffi.
        .target(
            name: "BghostFunctionCalls",
            dependencies: [
                "BghostBase", "BghostFunctions", "BghostPlugin", "CBghost", "CBghostSystem", "CFFI",
            ],
            swiftSettings: swift
        ),
        // The hashes and signatures of the BoringSSL that NIOSSL brings for TLS.
        .target(
            name: "BghostCrypto",
            dependencies: [.product(name: "NIOSSL", package: "swift-nio-ssl")],
            swiftSettings: swift
        ),
        .target(
            name: "BghostTrust",
            dependencies: [
                "BghostBase", "BghostCrypto", "BghostLinux",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostAudit",
            dependencies: ["BghostCrypto", "BghostModel"],
            swiftSettings: swift
        ),
        .target(
            name: "BghostAlerts",
            dependencies: ["BghostBase", "BghostModel"],
            swiftSettings: swift
        ),
        .target(
            name: "BghostAlertTransport",
            dependencies: [
                "BghostAlerts", "BghostBase", "BghostCrypto", "BghostDispatch", "BghostLinux",
                "BghostModel", "BghostTransfer",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostTraces",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostModel", "BghostServices", "BghostTransfer",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostStore",
            dependencies: [
                "BghostAudit", "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel",
                "BghostNotify", "BghostPolicy", "BghostTransferRules", "CBghostSystem", "CSQLite",
            ],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostTransfer",
            dependencies: [
                "BghostBase", "BghostCrypto", "BghostLinux", "BghostMetrics",
                "BghostTransferRules",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: swift
        ),
        // The daemon's parts: what its owners stand on, what decides and stores, what inspects plugins.
        .target(
            name: "BghostFleet",
            dependencies: ["BghostBase", "BghostLinux", "BghostModel"],
            swiftSettings: swift
        ),
        .target(
            name: "BghostFleetStore",
            dependencies: [
                "BghostBase", "BghostFleet", "BghostFleetRules", "BghostModel",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostServices",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostModel", "BghostStore", "BghostTrust",
            ],
            swiftSettings: swift + optimized
        ),
        .target(
            name: "BghostTransferBridge",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostModel", "BghostServices", "BghostTransfer",
                "BghostTransferRules", "BghostWire",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostBackup",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostServices", "BghostStore", "BghostTransferRules",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostLogFiles",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostLinux", "BghostModel", "BghostServices",
                "BghostTrust",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostDispatch",
            dependencies: [
                "BghostAPI", "BghostAlerts", "BghostAudit", "BghostBackup", "BghostBase",
                "BghostCalendar", "BghostCrypto", "BghostFacts", "BghostFleetRules", "BghostLinux",
                "BghostMetrics", "BghostModel", "BghostNotify", "BghostPolicy", "BghostSchemas",
                "BghostServices", "BghostSimulation", "BghostStore", "BghostTransferRules",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostConfiguration",
            dependencies: [
                "BghostBase", "BghostDispatch", "BghostFacts", "BghostLinux", "BghostManifest",
                "BghostModel", "BghostServices", "BghostStore", "BghostTransfer",
                "BghostTransferRules",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostInspection",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostModel", "BghostPlugin", "BghostSandbox",
                "BghostSchemas", "BghostServices", "BghostTrust", "BghostWire",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostHost",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostConfiguration",
                "BghostDispatch", "BghostFacts", "BghostInspection", "BghostLinux",
                "BghostMetrics", "BghostModel", "BghostNotify", "BghostPlugin", "BghostPolicy",
                "BghostSandbox", "BghostServices", "BghostStore", "BghostTransfer",
                "BghostTransferBridge", "BghostTransferRules", "BghostTrust", "BghostWire",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostControl",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostCrypto", "BghostLinux", "BghostMetrics",
                "BghostModel",
                "BghostNotify", "BghostPolicy", "CBghostPage",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostCheck",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostPlugin", "BghostSchemas", "BghostTrust",
                "BghostWire", "CBghost", "CBghostSystem",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostBundle",
            dependencies: [
                "BghostBase", "BghostCrypto", "BghostLinux", "BghostManifest", "BghostModel",
                "BghostTrust",
            ],
            swiftSettings: swift
        ),
        // The files of `bghost plugin new`. #embed is of C23, and clang has it in every C.
        .target(
            name: "CBghostTemplates",
            cSettings: c + [.disableWarning("c23-extensions")]
        ),
        .target(
            name: "BghostTemplates",
            dependencies: ["CBghostTemplates"],
            swiftSettings: swift
        ),
        .target(name: "BghostTerminal", dependencies: [], swiftSettings: swift),
        .target(
            name: "BghostViews",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostFacts", "BghostModel", "BghostNotify",
                "BghostPolicy", "BghostSimulation", "BghostTerminal",
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostCommandLine",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostControl", "BghostFunctionCalls",
                "BghostInspection", "BghostLinux", "BghostManifest", "BghostModel",
                "BghostServices", "BghostStore", "BghostTerminal", "BghostTransferRules",
                "BghostTrust",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostPluginCommand",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostBundle", "BghostCheck", "BghostCommandLine",
                "BghostConfiguration", "BghostControl", "BghostFacts", "BghostHost",
                "BghostInspection", "BghostLinux",
                "BghostManifest", "BghostModel", "BghostPlugin", "BghostPolicy", "BghostSchemas",
                "BghostServices", "BghostStore", "BghostTemplates", "BghostTerminal",
                "BghostTransfer", "BghostTransferRules", "BghostTrust", "BghostViews",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swift
        ),
        .target(
            name: "BghostCommand",
            dependencies: [
                "BghostAPI", "BghostAlertTransport", "BghostBackup", "BghostBase", "BghostCalendar",
                "BghostCommandLine", "BghostConfiguration", "BghostControl", "BghostDispatch",
                "BghostFacts", "BghostFleet", "BghostFleetStore", "BghostHost", "BghostInspection",
                "BghostLinux",
                "BghostLogFiles", "BghostManifest", "BghostModel", "BghostPlugin",
                "BghostPluginCommand", "BghostPolicy", "BghostSandbox", "BghostServices",
                "BghostSimulation",
                "BghostStore", "BghostTerminal", "BghostTraces", "BghostTransfer",
                "BghostTransferRules", "BghostViews",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swift
        ),

        // The host for tests of handlers: public, as the SDK is.
        .target(
            name: "BackgroundTasksTesting",
            dependencies: [
                "BackgroundTasks", "BghostBase", "BghostCalendar", "BghostFacts", "BghostLinux",
                "BghostManifest", "BghostModel", "BghostPlugin", "BghostPolicy", "BghostSchemas",
                "BghostWire", "CBghost",
            ],
            swiftSettings: swift
        ),

        // Programs.
        .target(name: "CBghostCommands", cSettings: c, linkerSettings: commands),
        .executableTarget(
            name: "bghost",
            dependencies: ["BghostCheck", "BghostCommand", "CBghostCommands"],
            swiftSettings: swift,
            linkerSettings: program
        ),
        .executableTarget(
            name: "bghost-worker",
            dependencies: [
                "BghostFunctionCalls", "BghostLinux", "BghostModel", "BghostPlugin",
                "BghostSandbox", "BghostWire", "CBghostSystem",
            ],
            swiftSettings: swift,
            linkerSettings: program
        ),
        .target(
            name: "StormyStation",
            dependencies: [
                "SampleDigests",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swift
        ),
        .executableTarget(
            name: "stormy-station",
            dependencies: [
                "StormyStation", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swift
        ),

        // The sample plugins. The station uses their hashes too.
        .target(
            name: "SampleDigests",
            dependencies: ["CSodium"],
            path: "Plugins/SampleDigests",
            swiftSettings: swift
        ),
        plugin("WeatherCheck", ["BackgroundFoundation", "SwiftUI", "UserNotifications"]),
        plugin(
            "PhotoUpload",
            ["BackgroundFoundation", "SampleDigests", "SwiftUI", "UserNotifications"]
        ),
        plugin(
            "Notifier",
            [
                "SampleDigests",
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        plugin("Overrun"),
        plugin("Report", path: "Examples/swift/Report"),

        // The bench.
        .target(
            name: "BenchSwift",
            dependencies: ["BackgroundTasks"],
            path: "Benchmarks/Plugins/Swift",
            swiftSettings: swift,
            linkerSettings: library
        ),
        .executableTarget(
            name: "bghost-bench",
            dependencies: [
                "BghostBase", "BghostConfiguration", "BghostFacts", "BghostHost", "BghostLinux",
                "BghostModel", "BghostPolicy", "BghostServices", "BghostStore", "BghostTransfer",
                "BghostTransferRules", "CBghostSystem",
            ],
            path: "Benchmarks/bghost-bench",
            swiftSettings: swift
        ),

        // The readers of what others wrote, each as a function of bytes, with what must hold of it.
        .target(
            name: "BghostFuzz",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostFacts", "BghostFunctions",
                "BghostLinux", "BghostManifest", "BghostModel", "BghostNotify", "BghostPlugin",
                "BghostPolicy", "BghostSandbox", "BghostTransferRules", "BghostWire",
                "BghostWireMessages",
            ],
            path: "Fuzz/Targets",
            swiftSettings: swift + optimized + [.enableExperimentalFeature("Lifetimes")]
        ),
        // The messages of the protocol with workers, for tests of it that need no other reader.
        .target(
            name: "BghostWireMessages",
            dependencies: ["BghostWire"],
            path: "Fuzz/Messages",
            swiftSettings: swift + optimized + [.enableExperimentalFeature("Lifetimes")]
        ),
        .target(
            name: "BghostFuzzServices",
            dependencies: [
                "BghostBase", "BghostBundle", "BghostFuzz", "BghostModel", "BghostPolicy",
                "BghostStore", "BghostTrust",
            ],
            path: "Fuzz/Services",
            swiftSettings: swift
        ),

        // Tests.
        .testTarget(
            name: "FuzzTests",
            dependencies: ["BghostFuzz", "BghostFuzzServices", "BghostTestSupport"],
            swiftSettings: swift
        ),
        .target(
            name: "BghostTestSupport",
            dependencies: ["BghostBase", "CBghostSystem"],
            path: "Tests/Support",
            swiftSettings: swift + optimized
        ),
        // A program that commits until it is killed, and what its test knows of its steps.
        .target(
            name: "StoreScript",
            dependencies: ["BghostBase", "BghostModel", "BghostPolicy", "BghostStore"],
            path: "Tests/StoreScript",
            swiftSettings: swift
        ),
        .executableTarget(
            name: "store-writer",
            dependencies: [
                "BghostBase", "BghostModel", "BghostPolicy", "BghostStore", "BghostTransferRules",
                "StoreScript",
            ],
            path: "Tests/StoreWriter",
            swiftSettings: swift
        ),
        // A program that runs a transfer until it is killed.
        .executableTarget(
            name: "transfer-runner",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostStore", "BghostTransfer", "BghostTransferRules",
            ],
            path: "Tests/TransferRunner",
            swiftSettings: swift
        ),
        .testTarget(
            name: "TidyTests",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostManifest", "BghostMetrics", "BghostPolicy",
                "BghostServices", "BghostTestSupport",
            ],
            exclude: ["allowed.txt"],
            swiftSettings: swift + optimized
        ),
        .testTarget(
            name: "BghostBaseTests",
            dependencies: ["BghostBase", "BghostTestSupport"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostCalendarTests",
            dependencies: ["BghostBase", "BghostCalendar", "BghostTestSupport"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostFactsTests",
            dependencies: ["BghostBase", "BghostFacts", "BghostTestSupport"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostFunctionsTests",
            dependencies: ["BghostFunctions"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostManifestTests",
            dependencies: [
                "BghostBase", "BghostCalendar", "BghostFacts", "BghostManifest", "BghostModel",
                "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        // Two templates with their own tests. The entry of one is left out: a program of tests has one. That of
        // the other, an app, is weak.
        .target(
            name: "TemplateName",
            dependencies: ["BackgroundTasks"],
            path: "Templates/swift/Sources/TemplateName",
            exclude: ["Entry.swift"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "TemplateNameTests",
            dependencies: ["BackgroundTasksTesting", "TemplateName"],
            path: "Templates/swift/Tests/TemplateNameTests",
            swiftSettings: swift
        ),
        .target(
            name: "TemplateNameIOS",
            dependencies: ["BackgroundFoundation", "BackgroundTasks", "SwiftUI"],
            path: "Templates/ios/Sources/TemplateNameIOS",
            swiftSettings: swift + [appFlags]
        ),
        .testTarget(
            name: "TemplateNameIOSTests",
            dependencies: [
                "BackgroundTasksTesting", "SwiftUI", "TemplateNameIOS", "_Testing_UIKit",
            ],
            path: "Templates/ios/Tests/TemplateNameIOSTests",
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostTemplatesTests",
            dependencies: ["BghostBase", "BghostTemplates", "BghostTestSupport"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostAlertsTests",
            dependencies: [
                "BghostAlerts", "BghostBase", "BghostCalendar", "BghostModel", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostTracesTests",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostModel", "BghostServices", "BghostTestSupport",
                "BghostTraces", "BghostTransfer",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostAlertTransportTests",
            dependencies: [
                "BghostAlertTransport", "BghostAlerts", "BghostBase", "BghostCrypto",
                "BghostDispatch", "BghostLinux", "BghostModel", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostModelTests",
            dependencies: [
                "BghostBase", "BghostFacts", "BghostModel", "BghostTestSupport", "CBghost",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostSchemasTests",
            dependencies: ["BghostBase", "BghostSchemas"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostMetricsTests",
            dependencies: ["BghostBase", "BghostMetrics", "BghostModel"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostNotifyTests",
            dependencies: [
                "BghostBase", "BghostCalendar", "BghostModel", "BghostNotify", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostPolicyTests",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel",
                "BghostPolicy", "BghostSimulation", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostSandboxTests",
            dependencies: ["BghostModel", "BghostSandbox"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostTransferRulesTests",
            dependencies: ["BghostBase", "BghostTestSupport", "BghostTransferRules"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostWireTests",
            dependencies: ["BghostTestSupport", "BghostWire", "BghostWireMessages"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostStoreTests",
            dependencies: [
                "BghostAudit", "BghostBase", "BghostCalendar", "BghostFacts", "BghostModel",
                "BghostNotify",
                "BghostPolicy", "BghostStore", "BghostTestSupport", "BghostTransferRules",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "StoreCrashTests",
            dependencies: [
                "BghostAudit", "BghostBase", "BghostModel", "BghostPolicy", "BghostStore",
                "BghostTestSupport", "StoreScript", "store-writer",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostTrustTests",
            dependencies: ["BghostBase", "BghostCrypto", "BghostTestSupport", "BghostTrust"],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostBundleTests",
            dependencies: [
                "BghostBase", "BghostBundle", "BghostCalendar", "BghostManifest", "BghostModel",
                "BghostTestSupport",
                "BghostTrust",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostLinuxTests",
            dependencies: [
                "BghostBase", "BghostFacts", "BghostLinux", "BghostModel", "BghostSandbox",
                "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostPluginTests",
            dependencies: [
                "BghostBase", "BghostFunctionCalls", "BghostFunctions", "BghostPlugin",
                "BghostTestSupport", "BghostWire", "CBghost", "CBghostSystem",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BackgroundTasksTests",
            dependencies: [
                "BackgroundFoundation", "BackgroundTasks", "BackgroundTasksTesting", "BghostBase",
                "BghostSchemas", "BghostTestSupport", "CBghost", "SwiftUI", "UIKit",
                "UserNotifications", "_Testing_UIKit",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BackgroundTasksTestingTests",
            dependencies: [
                "BackgroundTasks", "BackgroundTasksLogging", "BackgroundTasksTesting",
                "BghostFacts",
                "BghostTestSupport", "WeatherCheck",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swift
        ),
        .target(
            name: "SeedPlugin",
            dependencies: ["BackgroundTasks", "SwiftUI", "UIKit"]
                + seeds.map { Target.Dependency(stringLiteral: $0) },
            path: "Tests/SeedPlugin",
            swiftSettings: swift,
            linkerSettings: library
        ),
        // What several of the articles leave to their readers.
        .target(
            name: "SeedScaffold",
            dependencies: ["BackgroundFoundation", "BackgroundTasks", "UserNotifications"],
            path: "Tests/SeedScaffold",
            swiftSettings: swift
        ),
        // Handlers that lean on what a process has: its main thread, its stdout, its end.
        .target(
            name: "RuntimePlugin",
            dependencies: ["BackgroundFoundation", "BackgroundTasks"],
            path: "Tests/RuntimePlugin",
            swiftSettings: swift,
            linkerSettings: library
        ),
        .testTarget(
            name: "SeedTests",
            dependencies: ["BackgroundFoundation", "BackgroundTasks", "BackgroundTasksTesting"]
                + seeds.map { Target.Dependency(stringLiteral: $0) },
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostTransferTests",
            dependencies: [
                "BghostBase", "BghostCrypto", "BghostLinux", "BghostStore", "BghostTestSupport",
                "BghostTransfer",
                "BghostTransferRules", "transfer-runner",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOResumableUpload", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swift
        ),
        // The daemon's owners, each without a daemon and without a process.
        // What tests of the daemon's owners share: a reactor, and a store that the test answers.
        .target(
            name: "BghostOwnerSupport",
            dependencies: [
                "BghostAudit", "BghostBase", "BghostDispatch", "BghostLinux", "BghostModel",
                "BghostPolicy", "BghostStore",
            ],
            path: "Tests/OwnerSupport",
            swiftSettings: swift
        ),
        // What each store of partitions must do, for the tests of each.
        .target(
            name: "BghostFleetSupport",
            dependencies: [
                "BghostBase", "BghostFleetRules", "BghostModel", "BghostPolicy",
                "BghostTestSupport",
            ],
            path: "Tests/FleetSupport",
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostFleetTests",
            dependencies: [
                "BghostBase", "BghostFleet", "BghostFleetRules", "BghostFleetStore",
                "BghostFleetSupport", "BghostLinux", "BghostModel", "BghostPolicy",
                "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostFleetRulesTests",
            dependencies: [
                "BghostBase", "BghostCalendar", "BghostFleetRules", "BghostFleetSupport",
                "BghostModel", "BghostPolicy", "BghostStore", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostServicesTests",
            dependencies: [
                "BghostBase", "BghostLinux", "BghostModel", "BghostServices", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostLogFilesTests",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostLinux", "BghostLogFiles", "BghostModel",
                "BghostServices", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostDispatchTests",
            dependencies: [
                "BghostAPI", "BghostAlerts", "BghostBase", "BghostCalendar", "BghostDispatch",
                "BghostFacts", "BghostFleetRules", "BghostLinux", "BghostMetrics", "BghostModel",
                "BghostNotify", "BghostOwnerSupport", "BghostPolicy", "BghostSchemas",
                "BghostServices", "BghostStore", "BghostTestSupport",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostHostTests",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostConfiguration",
                "BghostDispatch", "BghostFacts",
                "BghostHost", "BghostInspection", "BghostLinux", "BghostModel", "BghostNotify",
                "BghostOwnerSupport", "BghostPlugin", "BghostPolicy", "BghostSchemas",
                "BghostServices", "BghostStore", "BghostTestSupport", "BghostTransfer",
                "BghostTransferBridge", "BghostTransferRules", "BghostWire",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "BghostControlTests",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostCalendar", "BghostCommand", "BghostCommandLine",
                "BghostConfiguration", "BghostControl", "BghostCrypto", "BghostDispatch",
                "BghostFacts", "BghostFleetRules", "BghostFleetSupport", "BghostHost",
                "BghostLinux", "BghostManifest",
                "BghostMetrics", "BghostModel", "BghostNotify", "BghostOwnerSupport",
                "BghostPluginCommand", "BghostPolicy", "BghostServices", "BghostStore",
                "BghostTerminal", "BghostTestSupport", "BghostTransfer", "BghostTransferBridge",
                "BghostTransferRules",
                "BghostViews", "BghostWire", "CBghostCommands",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "StationTests",
            dependencies: [
                "BghostTestSupport", "SampleDigests", "StormyStation", "stormy-station",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "BghostAPI", "BghostBase", "BghostBundle", "BghostCheck", "BghostControl",
                "BghostLinux",
                "BghostModel",
                "BghostPolicy", "BghostTestSupport", "CBghostSystem", "stormy-station",
            ],
            swiftSettings: swift
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "BghostAPI", "BghostAudit", "BghostBase", "BghostCalendar", "BghostControl",
                "BghostConfiguration", "BghostDispatch", "BghostFacts", "BghostFuzz",
                "BghostHost", "BghostInspection", "BghostLinux", "BghostModel", "BghostNotify",
                "BghostPolicy", "BghostServices", "BghostStore", "BghostTestSupport",
                "BghostTraces", "BghostTransfer", "BghostTransferBridge", "BghostTransferRules",
                "BghostTrust",
                "BghostWire", "stormy-station",
            ],
            swiftSettings: swift
        ),
    ] + seeds.map(seed) + apps.map(app)
)

// libFuzzer brings a `main` of its own, so a build for anything else could not link this program.
if Context.environment["BGHOST_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz-pure",
            dependencies: ["BghostFuzz"],
            path: "Fuzz/Programs/fuzz-pure",
            swiftSettings: swift
        )
    )
}

/// Leaves only these targets in the package, and what they need of it.
@MainActor func keepOnly(_ names: [String]) {
    var needed: Set<String> = []
    var next = names
    while let name = next.popLast() {
        guard needed.insert(name).inserted,
            let target = package.targets.first(where: { $0.name == name })
        else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { next.append(dependency) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
}

// A sanitizer builds everything again. These modules handle memory and threads themselves, and need no other
// package (Scripts/sanitize): the audit in the store is hashed by the system's libsodium here, since BoringSSL
// and NIO would take minutes of each build.
if let sanitizer = Context.environment["BGHOST_SANITIZE"] {
    package.products = []
    package.dependencies = []
    for crypto in package.targets where crypto.name == "BghostCrypto" {
        crypto.path = "Plugins/SampleDigests"
        crypto.dependencies = ["CSodium"]
    }
    let tests = [
        "BghostLinuxTests", "BghostPluginTests", "BghostSandboxTests", "BghostStoreTests",
        "BghostWireTests",
    ]
    keepOnly(tests)
    if sanitizer == "thread" {
        package.targets.append(
            .target(name: "ThreadSanitizer", path: "Tests/ThreadSanitizer", cSettings: c)
        )
        for target in package.targets where tests.contains(target.name) {
            target.dependencies.append("ThreadSanitizer")
        }
    }
}

// SwiftPM builds one product of a package or everything in it. `make run` and `make bench` need some
// (Scripts/release).
if let names = Context.environment["BGHOST_PRODUCTS"]?.split(separator: " ").map(String.init) {
    let unknown = Set(names).subtracting(package.products.map(\.name))
    precondition(unknown.isEmpty, "BGHOST_PRODUCTS: no such product: \(unknown.sorted())")
    package.products.removeAll { !names.contains($0.name) }
    keepOnly(names)
}
