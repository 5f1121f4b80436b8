// swift-tools-version: 6.3
import PackageDescription

// A package of its own beside the SDK, which stays free of dependencies: who depends on this one also gets
// swift-log.
let package = Package(
    name: "bghost-sdk-adapters",
    products: [
        .library(name: "BackgroundTasksLogging", targets: ["BackgroundTasksLogging"])
    ],
    dependencies: [
        .package(name: "bghost-sdk", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(
            name: "BackgroundTasksLogging",
            dependencies: [
                .product(name: "BackgroundTasks", package: "bghost-sdk"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]
        )
    ]
)
