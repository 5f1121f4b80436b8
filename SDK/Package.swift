// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that a handler's author neither fetches nor builds anything of the host.
// Keep it free of dependencies: they would be every author's. Warnings are errors in the root package
// only: a newer compiler's must not break a handler's build.
let package = Package(
    name: "bghost-sdk",
    products: [
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        .library(name: "CBghost", targets: ["CBghost"]),
    ],
    targets: [
        .target(name: "CBghost", cSettings: [.define("_GNU_SOURCE")]),
        .target(
            name: "BackgroundTasks",
            dependencies: ["CBghost"],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]
        ),
    ]
)
