// swift-tools-version: 6.3
import PackageDescription

/// The folder of bghost's SDK, a package without dependencies; `bghost sdk` prints it.
let sdk = Context.environment["BGHOST_SDK"] ?? "/bghost/SDK"

let package = Package(
    name: "TemplateNameIOS",
    products: [
        .library(
            name: "TemplateNameIOS",
            type: .dynamic,
            targets: ["TemplateNameIOS"]
        )
    ],
    dependencies: [.package(name: "SDK", path: sdk)],
    targets: [
        .target(
            name: "TemplateNameIOS",
            // iOS's modules are products of their own: name those that the source imports.
            dependencies: [
                .product(name: "BackgroundTasks", package: "SDK"),
                .product(name: "SwiftUI", package: "SDK"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("InternalImportsByDefault"),
                // `import Foundation` means the SDK's module, which has no ambiguous names, and `@main`
                // becomes the entry of a plugin.
                .unsafeFlags([
                    "-module-alias", "Foundation=BackgroundFoundation",
                    "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bghost_app_main",
                ]),
            ],
            // Swift has no stable ABI on Linux, so its runtime is linked into the plugin. With -z defs, an
            // undefined symbol is an error of the link and not of the host that loads the plugin.
            linkerSettings: [
                .unsafeFlags(
                    ["-static-stdlib", "-Xlinker", "-z", "-Xlinker", "defs"],
                    .when(configuration: .release)
                )
            ]
        ),
        .testTarget(
            name: "TemplateNameIOSTests",
            dependencies: [
                "TemplateNameIOS",
                .product(name: "BackgroundTasksTesting", package: "SDK"),
                .product(name: "SwiftUI", package: "SDK"),
                .product(name: "TestingUIKit", package: "SDK"),
            ]
        ),
    ]
)
