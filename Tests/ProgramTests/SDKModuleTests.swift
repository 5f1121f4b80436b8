// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// What a package outside of the repository may import together, of the SDK and of the toolchain.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(30))) struct SDKModuleTests {
    private static let manifest = """
        // swift-tools-version: 6.3
        import PackageDescription

        func sdk(_ name: String) -> Target.Dependency { .product(name: name, package: "SDK") }

        let package = Package(
            name: "Authors",
            products: [
                .library(name: "Plain", type: .dynamic, targets: ["Plain"]),
                .library(name: "App", type: .dynamic, targets: ["App"]),
            ],
            dependencies: [.package(path: "../bghost/SDK")],
            targets: [
                .target(name: "Plain", dependencies: [sdk("BackgroundTasks")]),
                .target(
                    name: "App",
                    dependencies: [
                        sdk("BackgroundTasks"), sdk("SwiftUI"), sdk("UserNotifications"),
                    ],
                    swiftSettings: [
                        .unsafeFlags([
                            "-module-alias", "Foundation=BackgroundFoundation",
                            "-Xfrontend", "-entry-point-function-name",
                            "-Xfrontend", "bghost_app_main",
                        ])
                    ]
                ),
                .testTarget(
                    name: "AppTests",
                    dependencies: ["App", sdk("SwiftUI"), sdk("TestingUIKit"), sdk("UIKit")]
                ),
            ]
        )
        """

    /// Full Foundation, which has a type of each of these names.
    private static let plain = """
        import BackgroundTasks
        import Dispatch
        import Foundation
        import FoundationNetworking

        let plugin = Plugin(id: "org.example.plain", version: "1.0.0") {
            Handler("plain") { context in
                guard let url = URL(string: "https://example.org/") else { return 0 }
                var request = URLRequest(url: url)
                request.httpMethod = "HEAD"
                let progress = Progress(totalUnitCount: 2)
                progress.completedUnitCount = 1
                UserDefaults.standard.set(progress.fractionCompleted, forKey: "done")
                let queue = OperationQueue()
                queue.addOperation { context.log(.info, "an operation of Foundation") }
                let answer = try await context.fetch(FetchRequest(url))
                guard answer.status < 400 else { throw URLError(.badServerResponse) }
                return answer.status
            }
        }

        func register() -> Bool {
            let scheduler = BGTaskScheduler.shared
            let queue = DispatchQueue(label: "launch")
            return scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
                task.setTaskCompleted(success: true)
            } && scheduler.register(forTaskWithIdentifier: "b", using: queue) { task in
                DispatchQueue.main.async { task.setTaskCompleted(success: true) }
            } && scheduler.register(forTaskWithIdentifier: "c", using: .main) { task in
                task.setTaskCompleted(success: true)
            }
        }
        """

    /// As it stands in an app for iOS.
    private static let app = """
        import BackgroundTasks
        import Foundation
        import SwiftUI
        import UserNotifications

        class AppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
            func application(
                _ application: UIApplication,
                didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "a", using: nil) { task in
                    let queue = OperationQueue()
                    queue.addOperation { task.setTaskCompleted(success: true) }
                }
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "b", using: .main) { task in
                    DispatchQueue.main.async { task.setTaskCompleted(success: true) }
                }
                UNUserNotificationCenter.current().delegate = self
                return true
            }
        }

        struct ContentView {}

        @main
        struct ExampleApp: App {
            @UIApplicationDelegateAdaptor(AppDelegate.self) var delegate
            @Environment(\\.scenePhase) private var phase
            @AppStorage("runs") private var runs = 0

            var body: some Scene {
                WindowGroup { ContentView() }
                    .onChange(of: phase) { _ in UserDefaults.standard.set(Date(), forKey: "seen") }
                    .onChange(of: phase) { Foundation.UserDefaults.standard.set(1, forKey: "n") }
                    .backgroundTask(.appRefresh("refresh")) {
                        guard let url = URL(string: "https://example.org/") else { return }
                        var request = URLRequest(url: url)
                        request.httpMethod = "POST"
                        let (data, response) = try await URLSession.shared.data(for: request)
                        guard response is HTTPURLResponse, !data.isEmpty else {
                            throw URLError(.badServerResponse)
                        }
                    }
            }
        }
        """

    /// swift-testing wants a module of its own beside each `UIKit`.
    private static let test = """
        @testable import App
        import SwiftUI
        import Testing
        import UIKit

        @Test func `Is in the background`() { #expect(ScenePhase.background != .active) }
        """

    @Test func `Handlers import full Foundation, and apps import what they do on iOS`() async throws
    {
        let folder = try TemporaryDirectory()
        for name in ["Sources/Plain", "Sources/App", "Tests/AppTests"] {
            let sources = folder.file("Authors/" + name)
            try #require(try Command.run(["mkdir", "-p", sources]).exitCode == 0)
        }
        let link = symlink(PackageRoot.path, folder.file("bghost"))
        try #require(link == 0)
        let package = folder.file("Authors")
        try folder.write(Self.manifest, to: "Authors/Package.swift")
        try folder.write(Self.app, to: "Authors/Sources/App/App.swift")
        try folder.write(Self.test, to: "Authors/Tests/AppTests/AppTests.swift")
        try folder.write(Self.plain, to: "Authors/Sources/Plain/Plain.swift")
        try folder.write(try everyName(), to: "Authors/Sources/Plain/Names.swift")

        let command =
            "cd '\(package)'; XDG_CACHE_HOME='\(folder.path)/cache' swift build --build-tests 2>&1"
        let build = try await Command.runApart(["sh", "-ec", command])
        try #require(build.exitCode == 0, "\(build.output)")

        // How the compiler writes the module's name in that of each of its symbols.
        let mark = Array("20BackgroundFoundation".utf8)
        let app = try File.read(package + "/.build/debug/libApp.so")
        #expect(!app.places(of: mark).isEmpty)
        #expect(!app.places(of: Array("bghost_plugin_v1".utf8)).isEmpty, "`@main` made no entry")
        let plain = try File.read(package + "/.build/debug/libPlain.so")
        #expect(
            plain.places(of: mark).isEmpty,
            "a plugin has names of Apple's that it does not import"
        )
    }

    /// A file that uses each public type of `BackgroundTasks` beside full Foundation.
    private func everyName() throws -> String {
        let folder = PackageRoot.path + "/SDK/Sources/BackgroundTasks"
        let files = try Command.run(["find", folder, "-name", "*.swift"]).output
        var names: [String] = []
        for file in files.split(separator: "\n") {
            let text = String(decoding: try File.read(String(file)), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let type = line.prefixMatch(
                    of: /(?:public|open) (?:final )?(?:class|struct|enum|protocol|typealias) (\w+)/
                )
                if let type { names.append(String(type.output.1)) }
            }
        }
        #expect(names.count > 20 && names.contains("BGTaskScheduler"))
        let lines = names.enumerated().map { "typealias Name\($0) = \($1)" }
        // Of the test host only.
        let imports =
            ["@_spi(Testing) import BackgroundTasks"]
            + ["Dispatch", "Foundation", "FoundationNetworking"].map { "import " + $0 }
        return (imports + lines).joined(separator: "\n") + "\n"
    }
}
