// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import CBghost
import Testing

// One after the other: the compiler holds up a thread of the pool, and there may be two.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10)), .builtSDK)
struct ExampleTests {
    /// Builds the example of the README with the shared runtime and with the runtime inside.
    @Test(arguments: [["-Onone"], ["-O", "-static-stdlib"]])
    func `The example of the README is a plugin`(flags: [String]) async throws {
        let example = PackageRoot.path + "/Examples/swift/Hello.swift"
        // What the README shows: all but the licence line.
        let shown =
            String(decoding: try File.read(example), as: UTF8.self)
            .split(separator: "\n", maxSplits: 1).last ?? ""
        #expect(shown.filter { $0 == "\n" }.count <= 15)
        for document in ["README.md", "docs/HANDLERS.md"] {
            let text = try File.read(PackageRoot.path + "/" + document)
            #expect(
                String(decoding: text, as: UTF8.self).contains("```swift\n\(shown)```"),
                "\(document) shows something else"
            )
        }

        let sdk = try #require(BuiltSDK.current)
        let swiftc = sdk.swiftc + flags
        let folder = try TemporaryDirectory()
        let product = folder.file("libHello.so")
        try await build(
            swiftc + ["-parse-as-library", "-module-name", "Hello"]
                + ["-emit-library", "-o", product, example, sdk.object(of: "BackgroundTasks")]
        )

        try await checkApp(swiftc, sdk, folder)
        #expect(try !File.read(product).places(of: noteBytes).isEmpty)
        let plugin = try PluginFile(product).open()
        #expect(text(plugin.table.id) == "org.example.hello")
        let ending = try await plugin.end(.init(parameters: #"{"name":"Ada"}"#))
        #expect(ending == Ending(status: BG_OK, payload: #"{"greeting":"Hello, Ada!"}"#))
        #expect(plugin.host.logs.map(\.message) == ["a visitor is at the door"])
    }

    /// Builds the example of docs/IOS.md, an app, in a folder.
    private func checkApp(
        _ swiftc: [String],
        _ sdk: BuiltSDK,
        _ folder: TemporaryDirectory
    ) async throws {
        let example = PackageRoot.path + "/Examples/swift/Stormy.swift"
        let shown =
            String(decoding: try File.read(example), as: UTF8.self)
            .split(separator: "\n", maxSplits: 1).last ?? ""
        let document = try File.read(PackageRoot.path + "/docs/IOS.md")
        #expect(
            String(decoding: document, as: UTF8.self).contains("```swift\n\(shown)```"),
            "docs/IOS.md shows something else"
        )
        let product = folder.file("libStormy.so")
        try await build(
            swiftc + ["-parse-as-library", "-module-name", "Stormy"]
                + ["-emit-library", "-o", product, example]
                + BuiltSDK.modules.map(sdk.object(of:)) + [sdk.object(of: "CBghostApp")]
        )
        let plugin = try PluginFile(product).open()
        let names = (0..<Int(plugin.table.n_tasks)).compactMap { index in
            plugin.table.tasks[index].map { text($0.pointee.handler) }
        }
        #expect(
            names == [
                "com.example.stormy.noon", "urlSession.weather", "notificationAction", "launch",
            ]
        )
        // This host has no transfers, which is no storm.
        #expect(try await plugin.end() == Ending(status: BG_OK))
    }

    /// All code of the articles, as one module of one file for each.
    @Test func `The code of the articles of the SDK compiles`() async throws {
        let articles = PackageRoot.path + "/SDK/Sources/BackgroundTasks/BackgroundTasks.docc"
        let sdk = try #require(BuiltSDK.current)
        let folder = try TemporaryDirectory()
        var files: [String] = []
        for name in try File.list(articles).sorted() where name != "BackgroundTasks.md" {
            let page = String(decoding: try File.read("\(articles)/\(name)"), as: UTF8.self)
            let blocks = page.split(separator: "```swift\n").dropFirst().compactMap {
                $0.split(separator: "```").first
            }
            #expect(!blocks.isEmpty, "\(name) shows no code")
            files.append(
                try folder.write(blocks.joined(separator: "\n"), to: "\(name.dropLast(3)).swift")
            )
        }
        #expect(files.count == 7)
        try await build(
            sdk.swiftc + ["-parse-as-library", "-module-name", "Articles", "-typecheck"] + files
        )
    }

    /// Links to symbols and articles that lead nowhere are errors of `docc`.
    @Test func `The reference of the SDK is made without a warning`() async throws {
        let folder = try TemporaryDirectory()
        let made = try await Command.runApart([
            PackageRoot.path + "/Scripts/docs", folder.file("reference"),
        ])
        #expect(made.exitCode == 0, "\(made.output)\(made.error)")
        let pages = try File.list(folder.file("reference/data/documentation/backgroundtasks"))
        for article in ["writing-a-plugin.json", "limits-and-failure.json", "taskcontext.json"] {
            #expect(pages.contains(article), "\(pages)")
        }
    }

    /// Full Foundation would weigh tens of megabytes in every worker, and a package could not be had
    /// from the sources alone, as above.
    @Test func `The SDK imports the header and the standard library, and no full Foundation`()
        throws
    {
        var imported: Set<Substring> = []
        let marks: Set<Substring> = ["@_exported", "public", "package", "internal"]
        for path in try BuiltSDK.modules.flatMap(BuiltSDK.sources) {
            let text = String(decoding: try File.read(path), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ").drop(while: marks.contains)
                if words.first == "import" { imported.insert(words.last ?? "") }
            }
        }
        let allowed: Set<Substring> = [
            // Dispatch is a part of Swift's concurrency on Linux, so it adds no library.
            "CBghost", "CBghostApp", "Dispatch", "FoundationEssentials", "Glibc", "Synchronization",
        ]
        #expect(imported.contains("CBghost"))
        #expect(imported.subtracting(allowed).subtracting(BuiltSDK.modules.map { $0[...] }) == [])
    }
}

private func build(_ command: [String]) async throws {
    let result = try await Command.runApart(command)
    try #require(result.exitCode == 0, "\(result.output)\(result.error)")
}

/// The SDK, built once for the tests of a suite.
///
/// From sources: what lies in the build folder may be older, and of one kind.
private struct BuiltSDK: Sendable {
    /// The modules, each after those that it imports.
    static let modules = [
        "BackgroundTasks", "BackgroundFoundation", "UserNotifications", "UIKit", "SwiftUI",
    ]

    @TaskLocal static var current: BuiltSDK?

    /// The compiler, as it finds these modules.
    let swiftc: [String]
    private let folder: TemporaryDirectory

    init() async throws {
        folder = try TemporaryDirectory()
        let sources = PackageRoot.path + "/SDK/Sources"
        let map = try folder.write(
            """
            module CBghost { header "\(sources)/CBghost/include/bghost.h" }
            module CBghostApp { header "\(sources)/CBghostApp/include/bghost_app.h" }
            """,
            to: "module.modulemap"
        )
        swiftc = [
            "swiftc", "-swift-version", "6", "-Xcc", "-fmodule-map-file=" + map, "-I", folder.path,
        ]
        try await build([
            Toolchain.c, "-fPIC", "-I", sources + "/CBghostApp/include", "-c", "-o",
            folder.file("CBghostApp.o"), sources + "/CBghostApp/bghost_app.c",
        ])
        for module in Self.modules {
            try await build(
                // Not optimized, which takes the compiler a minute: `OutsidePackageTests` builds it so.
                swiftc + ["-Onone", "-wmo", "-parse-as-library", "-module-name", module]
                    + ["-package-name", "sdk"]
                    + ["-emit-module-path", folder.file(module + ".swiftmodule")]
                    + ["-c", "-o", object(of: module)] + Self.sources(of: module)
            )
        }
    }

    func object(of module: String) -> String { folder.file(module + ".o") }

    static func sources(of module: String) throws -> [String] {
        let folder = PackageRoot.path + "/SDK/Sources/" + module
        return try Command.run(["find", folder, "-name", "*.swift"]).output
            .split(separator: "\n").map(String.init)
    }

    /// Builds it before the first test of a suite, and removes it after the last.
    struct Provider: SuiteTrait, TestScoping {
        func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable @concurrent () async throws -> Void
        ) async throws {
            try await BuiltSDK.$current.withValue(try await BuiltSDK()) { try await function() }
        }
    }
}

extension Trait where Self == BuiltSDK.Provider {
    fileprivate static var builtSDK: BuiltSDK.Provider { BuiltSDK.Provider() }
}
