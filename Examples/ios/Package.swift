// swift-tools-version: 6.3
import PackageDescription

/// The folder of bghost's SDK, a package without dependencies; `bghost sdk` prints it.
let sdk = Context.environment["BGHOST_SDK"] ?? "../../SDK"

/// Lets the source of an app stand as it is on iOS.
///
/// `import Foundation` means the SDK's module, which has what Foundation has on iOS without ambiguities,
/// and `@main` becomes the entry of a plugin.
let app: [SwiftSetting] = [
    .unsafeFlags([
        "-module-alias", "Foundation=BackgroundFoundation",
        "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bghost_app_main",
    ]),
    .swiftLanguageMode(.v5),
]

/// Swift has no stable ABI on Linux, so its runtime is linked into the plugin.
let library: [LinkerSetting] = [
    .unsafeFlags(
        ["-static-stdlib", "-Xlinker", "-z", "-Xlinker", "defs"],
        .when(configuration: .release)
    )
]

let apps = ["Habits", "PhotoBackup", "Podcasts"]

let package = Package(
    name: "Apps",
    products: apps.map { .library(name: $0, type: .dynamic, targets: [$0]) },
    dependencies: [.package(name: "SDK", path: sdk)],
    targets: apps.map { name in
        .target(
            name: name,
            dependencies: [
                .product(name: "BackgroundTasks", package: "SDK"),
                .product(name: "SwiftUI", package: "SDK"),
                .product(name: "UserNotifications", package: "SDK"),
            ],
            swiftSettings: app,
            linkerSettings: library
        )
    }
)
