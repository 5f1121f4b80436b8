// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// Whom the program believes: its manifest's owner, and who signed a plugin.
@Suite(.ownThreads) struct TrustTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func manifest(_ plugin: String = "", signers: String = "{}") throws -> String {
        try folder.write(
            #"{"version": 1, "signers": \#(signers), "plugins": {\#(plugin)}}"#,
            to: "tasks.json"
        )
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["tasks.json", "tasks.d/more.json", "tasks.d"])
    func `A manifest that everybody can change is refused`(name: String) throws {
        let config = try manifest()
        try #require(mkdir(folder.file("tasks.d"), 0o755) == 0)
        try folder.write(#"{"version": 1}"#, to: "tasks.d/more.json")
        let path = folder.file(name)
        chmod(path, name == "tasks.d" ? 0o757 : 0o646)
        let result = try Command.run([
            Artifact.path("bghost"), "--config", config, "--state-dir", folder.file("state"),
        ])
        #expect(result.exitCode == 78)
        #expect(
            result.error.contains("\(path) can be written by everybody; run `chmod o-w \(path)`"),
            "\(result.error)"
        )
        #expect(result.error.contains("--dev"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `minisign and a check accept a plugin that bghost signed`() throws {
        let library = try folder.write(try File.read(try Fixture.library("good")), to: "good.so")
        let (secret, open) = (folder.file("key"), folder.file("key.pub"))
        let made = try Command.run(["minisign", "-G", "-W", "-p", open, "-s", secret])
        try #require(made.exitCode == 0, "\(made.error)")
        let bghost = Artifact.path("bghost")

        let signing = try Command.run([bghost, "plugin", "sign", library, "--key", secret])
        #expect(signing.exitCode == 0, "\(signing.error)")
        let key = try #require(
            signing.output.split(separator: "\n").first { $0.hasPrefix("public key: ") }?
                .dropFirst("public key: ".count)
        )
        let seen = try Command.run(["minisign", "-V", "-P", String(key), "-m", library])
        #expect(seen.exitCode == 0, "\(seen.output)\(seen.error)")

        let config = try manifest(
            #""good": {"library": "\#(library)", "signedBy": "acme"}"#,
            signers: #"{"acme": {"key": "\#(key)"}}"#
        )
        let check = try Command.run([bghost, "check", "--config", config])
        #expect(check.exitCode == 0, "\(check.output)\(check.error)")

        try folder.write(try File.read(library) + [0], to: "good.so")
        let tampered = try Command.run([bghost, "check", "--config", config])
        #expect(tampered.exitCode == 78)
        #expect(tampered.output.contains("it is not what `acme` signed"), "\(tampered.output)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A key with a password is refused with what to do`() throws {
        // As minisign writes it, but for its random parts.
        var bytes = Array("EdScB2".utf8)
        bytes += [UInt8](repeating: 7, count: 152)
        let text = "untrusted comment: locked\n\(try base64(bytes))\n"
        let key = try folder.write(text, to: "key")
        let library = try folder.write("x", to: "x.so")
        let result = try Command.run([
            Artifact.path("bghost"), "plugin", "sign", library, "--key", key,
        ])
        #expect(result.exitCode == 1)
        #expect(result.error.contains("locked with a password"), "\(result.error)")
    }

    private func base64(_ bytes: [UInt8]) throws -> String {
        let file = try folder.write(bytes, to: "bytes")
        return try Command.run(["base64", "-w0", file]).output
    }
}
