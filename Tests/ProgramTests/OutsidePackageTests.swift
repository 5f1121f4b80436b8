// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// A package outside of the repository, built as docs/HANDLERS.md says: the page's own texts are used, so
/// that page and test cannot differ.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(30))) struct OutsidePackageTests {
    private let page: Page
    private let folder: TemporaryDirectory

    init() throws {
        page = try Page("docs/HANDLERS.md", section: "## Building")
        folder = try TemporaryDirectory()
    }

    @Test(arguments: ["the SDK's folder", "a file:// URL"])
    func `A package that follows the page is a plugin that the daemon runs`(of sdk: String)
        async throws
    {
        let package = try makePackage(isByURL: sdk == "a file:// URL")
        // All but the daemon itself, which does not end.
        var commands = try #require(page.block("sh")).split(separator: "\n").map(String.init)
        #expect(commands.removeLast() == "bghost --config tasks.json")
        #expect(commands.first?.hasPrefix("swift build -c release") == true)
        commands.insert("ldd -r .build/release/libHello.so", at: 1)
        var outputs: [String] = []
        for command in commands {
            let result = try await shell(command, in: package)
            try #require(result.exitCode == 0, "\(command)\n\(result.output)\(result.error)")
            outputs.append(result.output + result.error)
        }
        #expect(!outputs[1].contains("undefined symbol") && !outputs[1].contains("not found"))
        // The Swift runtime is inside.
        #expect(!outputs[1].contains("libswift"), "\(outputs[1])")
        #expect(outputs[2].contains("this bghost can load it"), "\(outputs[2])")
        #expect(outputs[3].contains("org.example.hello 1.0.0, ABI 1, 1 handler "), "\(outputs[3])")

        let daemon = try TestDaemon(manifest: package + "/tasks.json", folder: folder)
        let run = try daemon.command(["trigger", "org.example.hello", "--wait", "--json"])
        #expect(run.exitCode == 0, "\(run.output)\(run.error)")
        let result = try JSONReader.parse(run.output)["run"]?["result"]
        #expect(result?["greeting"]?.string == "Hello, Ada!", "\(run.output)")
        #expect(daemon.stop() == 0)
    }

    /// With the page's own flags for the linker.
    @Test func `The link fails where a symbol is missing`() async throws {
        let sources = folder.file("Hello/Sources/Hello")
        try #require(try Command.run(["mkdir", "-p", sources]).exitCode == 0)
        let manifest = try #require(page.block("swift"))
            .replacing(
                "dependencies: [.product(name: \"BackgroundTasks\", package: \"SDK\")],",
                with: ""
            )
            .replacing("    dependencies: [.package(path: \"../bghost/SDK\")],\n", with: "")
        try folder.write(manifest, to: "Hello/Package.swift")
        let code = """
            @_silgen_name("nowhere") func nowhere() -> Int32
            public func f() -> Int32 { nowhere() }
            """
        try folder.write(code, to: "Hello/Sources/Hello/Hello.swift")
        let build = try #require(page.block("sh")?.split(separator: "\n").first)
        let result = try await shell(String(build), in: folder.file("Hello"))
        #expect(result.exitCode != 0)
        let text = result.output + result.error
        #expect(text.contains("undefined reference to 'nowhere'"), "\(text)")
    }

    @Test func `bghost plugin inspect names why a library cannot be loaded`() throws {
        let library = try Fixture.library("undefined-symbol")
        let inspect = [Artifact.path("bghost"), "plugin", "inspect", library]
        let shown = try Command.run(inspect)
        #expect(shown.exitCode == 1)
        #expect(shown.output.contains("1 symbol is undefined, no_library_defines_this"), "\(shown)")
        #expect(!shown.output.contains("can load it"))
        let json = try JSONReader.parse(try Command.run(inspect + ["--json"]).output)
        #expect(json["loadable"]?.bool == false)
        #expect(json["code"]?.string == "undefined-symbols")
    }

    /// Writes the package of the page, and returns its folder.
    private func makePackage(isByURL: Bool) throws -> String {
        let package = folder.file("Hello")
        try #require(try Command.run(["mkdir", "-p", package + "/Sources/Hello"]).exitCode == 0)
        let code = try #require(
            Page("docs/HANDLERS.md", section: "## The whole of a plugin").block("swift")
        )
        try folder.write(code, to: "Hello/Sources/Hello/Hello.swift")
        try folder.write(try #require(page.block("json")), to: "Hello/tasks.json")
        var manifest = try #require(page.block("swift"))
        if isByURL {
            let repository = folder.file("bghost-sdk")
            let export = try Command.run([PackageRoot.path + "/Scripts/export-sdk", repository])
            try #require(export.exitCode == 0, "\(export.error)")
            let lines = try #require(page.block("swift", 1)).split(separator: "\n")
            #expect(lines.count == 2)
            for line in lines {
                let beginning = try #require(line.split(separator: "(").first)
                let old = manifest.split(separator: "\n").first { $0.hasPrefix(beginning + "(") }
                manifest.replace(try #require(old), with: line)
            }
            #expect(manifest.contains("file:///srv/git/bghost-sdk"))
            manifest.replace("/srv/git/bghost-sdk", with: repository)
        } else {
            let link = symlink(PackageRoot.path, folder.file("bghost"))
            try #require(link == 0)
        }
        try folder.write(manifest, to: "Hello/Package.swift")
        return package
    }

    /// Runs a line of the page in a folder, with this build's `bghost` on the path.
    private func shell(_ line: String, in folder: String) async throws -> Command.Result {
        let programs = Artifact.directory
        // Caches of its own: a repository at another path is another one to SwiftPM.
        let settings =
            "cd '\(folder)'; export PATH=\"\(programs):$PATH\" XDG_CACHE_HOME='\(folder)/cache'"
        return try await Command.runApart(["sh", "-ec", "\(settings); \(line)"])
    }
}

/// A section of a page, with its code.
private struct Page {
    private let blocks: [(language: String, text: String)]

    init(_ path: String, section: String) throws {
        let text = String(decoding: try File.read(PackageRoot.path + "/" + path), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0 == section })
        let rest = lines[(start + 1)...]
        var blocks: [(language: String, text: String)] = []
        var isInside = false
        for line in rest.prefix(while: { !$0.hasPrefix("## ") }) {
            if line.hasPrefix("```") {
                isInside.toggle()
                if isInside { blocks.append((String(line.dropFirst(3)), "")) }
            } else if isInside {
                blocks[blocks.count - 1].text += line + "\n"
            }
        }
        self.blocks = blocks
    }

    /// The text of a block, by its language and its place among those.
    func block(_ language: String, _ index: Int = 0) -> String? {
        let texts = blocks.filter { $0.language == language }.map(\.text)
        return index < texts.count ? texts[index] : nil
    }
}
