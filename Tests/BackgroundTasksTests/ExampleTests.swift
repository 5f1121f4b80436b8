// SPDX-License-Identifier: Apache-2.0

import BackgroundTasksTesting
import BghostTestSupport
import CBghost
import Testing

// One after the other: the compiler holds up a thread of the pool, and there may be two.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10)))
struct ExampleTests {
    /// Builds the example of the README, and the SDK for it, with the shared runtime and with the
    /// runtime inside.
    ///
    /// From sources: what lies in the build folder may be older, and of one kind.
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

        let folder = try TemporaryDirectory()
        let header = PackageRoot.path + "/SDK/Sources/CBghost/include/bghost.h"
        let map = try folder.write(
            "module CBghost { header \"\(header)\" }",
            to: "module.modulemap"
        )
        let plain = ["swiftc", "-swift-version", "6", "-Xcc", "-fmodule-map-file=" + map]
        let swiftc = plain + flags

        for module in Self.modules {
            try await build(
                // Not optimized, which takes the compiler a minute: `OutsidePackageTests` builds it so.
                plain + ["-Onone", "-wmo", "-parse-as-library", "-module-name", module]
                    + ["-package-name", "sdk", "-I", folder.path]
                    + ["-emit-module-path", folder.file(module + ".swiftmodule")]
                    + ["-c", "-o", folder.file(module + ".o")] + Self.sources(of: module)
            )
        }
        let product = folder.file("libHello.so")
        try await build(
            swiftc + ["-parse-as-library", "-module-name", "Hello", "-I", folder.path]
                + ["-emit-library", "-o", product, example, folder.file("BackgroundTasks.o")]
        )

        try await checkApp(swiftc, folder)
        #expect(try !File.read(product).places(of: noteBytes).isEmpty)
        let plugin = try PluginFile(product).open()
        #expect(text(plugin.table.id) == "org.example.hello")
        let ending = try await plugin.end(.init(parameters: #"{"name":"Ada"}"#))
        #expect(ending == Ending(status: BG_OK, payload: #"{"greeting":"Hello, Ada!"}"#))
        #expect(plugin.host.logs.map(\.message) == ["a visitor is at the door"])
    }

    /// The modules of the SDK, each after those that it imports.
    private static let modules = [
        "BackgroundTasks", "BackgroundFoundation", "UserNotifications", "UIKit", "SwiftUI",
    ]

    private static func sources(of module: String) throws -> [String] {
        let folder = PackageRoot.path + "/SDK/Sources/" + module
        return try Command.run(["find", folder, "-name", "*.swift"]).output
            .split(separator: "\n").map(String.init)
    }

    /// Builds the example of docs/IOS.md, an app, against the SDK that lies in the folder.
    private func checkApp(_ swiftc: [String], _ folder: TemporaryDirectory) async throws {
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
            swiftc + ["-parse-as-library", "-module-name", "Stormy", "-I", folder.path]
                + ["-emit-library", "-o", product, example]
                + Self.modules.map { folder.file($0 + ".o") }
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

    /// Full Foundation would weigh tens of megabytes in every worker, and a package could not be had
    /// from the sources alone, as above.
    @Test func `The SDK imports the header and the standard library, and no full Foundation`()
        throws
    {
        var imported: Set<Substring> = []
        let marks: Set<Substring> = ["@_exported", "public", "package", "internal"]
        for path in try Self.modules.flatMap(Self.sources) {
            let text = String(decoding: try File.read(path), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ").drop(while: marks.contains)
                if words.first == "import" { imported.insert(words.last ?? "") }
            }
        }
        let allowed: Set<Substring> = [
            // Dispatch is a part of Swift's concurrency on Linux, so it adds no library.
            "CBghost", "Dispatch", "FoundationEssentials", "Glibc", "Synchronization",
        ]
        #expect(imported.contains("CBghost"))
        #expect(imported.subtracting(allowed).subtracting(Self.modules.map { $0[...] }) == [])
    }

    private func build(_ command: [String]) async throws {
        let result = try await Command.runApart(command)
        try #require(result.exitCode == 0, "\(result.output)\(result.error)")
    }
}
