// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTemplates
import BghostTestSupport
import Testing

@Suite(.ownThreads) struct TemplateTests {
    /// A file that is not in `templates.c` would be missed by no compiler.
    @Test func `Each file of Templates is embedded as it is`() throws {
        let folder = PackageRoot.path + "/Templates"
        let listed = try Command.run(["find", folder, "-type", "f"]).output
        var onDisk = listed.split(separator: "\n").map { String($0.dropFirst(folder.count + 1)) }
        onDisk.append("rust/src/bghost.rs")
        #expect(PluginTemplate.embedded.map(\.path).sorted() == onDisk.sorted())
        for (path, text) in PluginTemplate.embedded {
            let source =
                path == "rust/src/bghost.rs"
                ? PackageRoot.path + "/Examples/rust/bghost.rs" : folder + "/" + path
            #expect(Array(text.utf8) == (try File.read(source)), "\(path)")
        }
    }

    @Test(arguments: PluginTemplate.allCases)
    func `Nothing of the template's own names is left`(template: PluginTemplate) throws {
        let files = try self.files(template)
        #expect(files.count >= 6)
        for file in files {
            for word in ["TemplateName", "template-name", "template_name", "/bghost/"] {
                #expect(!file.text.contains(word) && !file.path.contains(word), "\(file.path)")
            }
        }
        for path in [".gitignore", "README.md", "ci.sh", "tasks.dev.json"] {
            #expect(files.contains { $0.path == path }, "\(path)")
        }
        #expect(files.filter(\.isExecutable).map(\.path) == ["ci.sh"])
        let manifest = try #require(files.first { $0.path == "tasks.dev.json" })
        let json = try JSONReader.parse(Array(manifest.text.utf8), dialect: .commented)
        #expect(json["$schema"]?.string == "file:///usr/share/tasks.schema.json")
        let library = json["plugins"]?["photo-upload"]?["library"]?.string
        #expect(library == "./" + template.library(try PluginName("photo-upload")))
    }

    @Test func `Without a schema, the manifest names none`() throws {
        let files = PluginTemplate.c.files(try PluginName("a"), sdk: "/s", schema: nil)
        let manifest = try #require(files.first { $0.path == "tasks.dev.json" })
        #expect(!manifest.text.contains("schema"))
        #expect(manifest.text.contains("\"version\": 1"))
    }

    /// Two entries of one library would be an error of the link, and none an error of the host.
    @Test(arguments: [PluginTemplate.swift, .ios])
    func `A plugin in Swift has one entry`(template: PluginTemplate) throws {
        let files = template.files(try PluginName("a"), sdk: "/s", schema: nil)
        let entries = files.filter { file in
            file.path.hasSuffix(".swift")
                && ["@c(bghost_plugin_v1)", "\n@main\n"].contains { file.text.contains($0) }
        }
        #expect(entries.count == 1, "\(entries.map(\.path))")
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["a", "abcdefghijklmnopqrstuvwxyzabcdef"],
        [PluginTemplate.swift, .ios]
    )
    func `Swift is as swift-format writes it`(name: String, template: PluginTemplate) async throws {
        let folder = try TemporaryDirectory()
        try write(template, name, folder)
        let linted = try await Command.runApart(
            ["sh", "-c", "cd '\(folder.path)' && swift format lint --strict --recursive ."]
        )
        #expect(linted.exitCode == 0, "\(linted.output)\(linted.error)")
    }

    @Test(.enabled(if: Toolchain.program("rustfmt") != nil), .timeLimit(.minutes(5)))
    func `Rust is as rustfmt writes it`() async throws {
        let folder = try TemporaryDirectory()
        try write(.rust, "photo-upload", folder)
        let linted = try await Command.runApart(
            ["sh", "-c", "cd '\(folder.path)' && rustfmt --check --edition 2021 src/lib.rs"]
        )
        #expect(linted.exitCode == 0, "\(linted.output)\(linted.error)")
    }

    @Test(.enabled(if: Toolchain.program("gofmt") != nil), .timeLimit(.minutes(5)))
    func `Go is as gofmt writes it`() async throws {
        let folder = try TemporaryDirectory()
        try write(.go, "photo-upload", folder)
        let linted = try await Command.runApart(["gofmt", "-l", folder.path])
        #expect(linted.exitCode == 0 && linted.output == "", "\(linted.output)\(linted.error)")
    }

    private func files(_ template: PluginTemplate) throws -> [TemplateFile] {
        template.files(
            try PluginName("photo-upload"),
            sdk: "/usr/share/sdk",
            schema: "/usr/share/tasks.schema.json"
        )
    }

    private func write(
        _ template: PluginTemplate,
        _ name: String,
        _ folder: TemporaryDirectory
    ) throws {
        for file in template.files(try PluginName(name), sdk: "/sdk", schema: nil) {
            let parts = file.path.split(separator: "/").dropLast()
            if !parts.isEmpty {
                let path = folder.file(parts.joined(separator: "/"))
                _ = try Command.run(["mkdir", "-p", path])
            }
            try folder.write(file.text, to: file.path)
        }
    }
}
