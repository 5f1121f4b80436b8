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

    /// A package on the SDK's folder is built in `GettingStartedTests`.
    @Test func `The page's package on the SDK's folder is resolved`() async throws {
        try makePackage()
        let shown = try await shell("swift package show-dependencies", in: folder.file("Hello"))
        #expect(shown.exitCode == 0, "\(shown.output)\(shown.error)")
        let sdk = folder.file("bghost") + "/SDK"
        #expect(shown.output.contains("<\(sdk)@unspecified>"), "\(shown.output)")
    }

    @Test func `A package on a release of the SDK takes the next one, and the daemon runs it`()
        async throws
    {
        let package = folder.file("Hello")
        let repository = folder.file("bghost-sdk")
        try await release(PackageRoot.path, to: repository)
        try makePackage(repository: repository)
        func resolved(_ command: String) async throws -> String {
            let result = try await shell(command, in: package)
            try #require(result.exitCode == 0, "\(result.output)\(result.error)")
            let answer = try JSONReader.parse(
                String(decoding: File.read(package + "/Package.resolved"), as: UTF8.self)
            )
            return answer["pins"]?.array?.first?["state"]?["version"]?.string ?? ""
        }
        #expect(try await resolved("swift package resolve") == BghostVersion.text)

        let next = try nextVersion()
        let sources = try makeSources(next)
        try await release(sources, to: repository)
        let log = try Command.run(["git", "-C", repository, "log", "--format=%s%d"])
        #expect(
            log.output
                == "SDK \(next) (HEAD -> main, tag: \(next))\nSDK \(BghostVersion.text) (tag: \(BghostVersion.text))\n"
        )
        let file = repository + "/TestHost/BghostBase/Version.swift"
        #expect(String(decoding: try File.read(file), as: UTF8.self).contains("\"\(next)\""))
        // A version is released once.
        let again = try await make(sources, repository)
        #expect(again.exitCode != 0 && again.error.contains("has the SDK \(next) already"))
        #expect(try await resolved("swift package update") == next)
        try await run(package)
    }

    @Test func `A release of the SDK names its repository, and leaves other folders alone`()
        async throws
    {
        let none = try await Command.runApart(["make", "-C", PackageRoot.path, "sdk-release"])
        #expect(none.exitCode == 2, "\(none.output)")
        #expect(none.error.contains("make sdk-release FOLDER=/srv/git/bghost-sdk"), "\(none.error)")
        try folder.write("mine", to: "file")
        let other = try await make(PackageRoot.path, folder.path)
        #expect(other.exitCode == 2 && other.error.contains("holds something else than the SDK"))
        #expect(try File.list(folder.path) == ["file"])
    }

    /// Runs the commands of the page.
    private func run(_ package: String) async throws {
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

    /// Writes the package of the page.
    ///
    /// - Parameter repository: that of the SDK; `nil` for its folder.
    private func makePackage(repository: String? = nil) throws {
        let package = folder.file("Hello")
        try #require(try Command.run(["mkdir", "-p", package + "/Sources/Hello"]).exitCode == 0)
        let code = try #require(
            Page("docs/HANDLERS.md", section: "## The whole of a plugin").block("swift")
        )
        try folder.write(code, to: "Hello/Sources/Hello/Hello.swift")
        try folder.write(try #require(page.block("json")), to: "Hello/tasks.json")
        var manifest = try #require(page.block("swift"))
        if let repository {
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
    }

    // MARK: Releases

    /// The next version for which `from:` of this one stands.
    private func nextVersion() throws -> String {
        let parts = BghostVersion.text.split(separator: ".")
        let patch = try #require(parts.last.flatMap { Int($0) })
        return (parts.dropLast() + ["\(patch + 1)"]).joined(separator: ".")
    }

    /// Makes sources of bghost that differ in the version only, and returns their folder.
    private func makeSources(_ version: String) throws -> String {
        let sources = folder.file("next")
        let made = try Command.run([
            "sh", "-ec",
            """
            mkdir -p "$2/Sources" && cd "$2" && ln -s "$1"/Sources/* Sources && rm Sources/BghostBase
            cp -r "$1/Sources/BghostBase" Sources && cp -r "$1/SDK" "$1/Scripts" "$1/Makefile" "$1/LICENSE" .
            sed -i "s/static let text = .*/static let text = \\"$3\\"/" Sources/BghostBase/Version.swift
            """,
            "sh", PackageRoot.path, sources, version,
        ])
        try #require(made.exitCode == 0, "\(made.error)")
        return sources
    }

    private func release(_ sources: String, to repository: String) async throws {
        let made = try await make(sources, repository)
        try #require(made.exitCode == 0, "\(made.output)\(made.error)")
    }

    private func make(_ sources: String, _ repository: String) async throws -> Command.Result {
        try await Command.runApart(["make", "-C", sources, "sdk-release", "FOLDER=" + repository])
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
