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
    func `A folder of drop-ins that others can change is refused while it is empty`() throws {
        let config = try manifest()
        let drops = folder.file("tasks.d")
        try #require(mkdir(drops, 0o755) == 0)
        try #require(chmod(drops, 0o777) == 0)
        let refused = try start(config)
        #expect(refused.exitCode == 78)
        #expect(refused.error.contains("\(drops) can be written by everybody"), "\(refused)")
        let check = try Command.run([Artifact.path("bghost"), "check", "--config", config])
        #expect(check.exitCode == 78)
        #expect(check.output.contains("error[BG1080]"), "\(check)")
        #expect(check.output.contains("\(drops) can be written by everybody"), "\(check)")
        let lax = try Command.run([Artifact.path("bghost"), "check", "--dev", "--config", config])
        #expect(lax.exitCode == 0, "\(lax)")
    }

    /// What a manifest can name that the daemon runs or believes, besides plugins.
    private static let named: [(what: String, manifest: @Sendable (_ path: String) -> String)] = [
        (
            "the program of probe `p`",
            { #"{"version": 1, "host": {"facts": {"probes": {"p": {"run": ["\#($0)"]}}}}}"# }
        ),
        (
            "the program of a receiver",
            { #"{"version": 1, "host": {"alerts": {"to": [{"command": ["\#($0)"]}]}}}"# }
        ),
        (
            "file:",
            { path in
                """
                {"version": 1, "host": {"alerts": {"to": [
                   {"ntfy": "https://localhost/x", "token": "${file:\(path)}"}]}}}
                """
            }
        ),
        (
            "`sslrootcert` of `connection`",
            { path in
                """
                {"version": 1, "host": {"fleet": {"name": "a",
                   "connection": "postgresql:///x?host=/nowhere&sslrootcert=\(path)"}}}
                """
            }
        ),
    ]

    private func start(_ config: String, _ arguments: String...) throws -> Command.Result {
        try Command.run(
            [Artifact.path("bghost"), "--config", config, "--state-dir", folder.file("state")]
                + arguments
        )
    }

    @Test(.timeLimit(.minutes(5)), arguments: named.indices, ["file", "folder", "owner", "absent"])
    func `A file that others can change is neither run nor believed`(
        index: Int,
        fault: String
    ) throws {
        let (what, manifest) = Self.named[index]
        // Others cannot own a file that only root can give away.
        guard fault != "owner" || geteuid() == 0 else { return }
        let ran = folder.file("ran")
        let place = folder.file("tools")
        try #require(mkdir(place, 0o755) == 0)
        let path = try folder.write("#!/usr/bin/touch \(ran)", to: "tools/named")
        try #require(chmod(path, fault == "file" ? 0o777 : 0o755) == 0)
        switch fault {
        case "folder": try #require(chmod(place, 0o777) == 0)
        case "owner": try #require(chown(path, 65534, 65534) == 0)
        // The sticky bit keeps others from replacing a file, not from creating it.
        case "absent": try #require(unlink(path) == 0 && chmod(place, 0o1777) == 0)
        default: break
        }
        let reason =
            switch fault {
            case "folder": "\(place) can be written by everybody; run `chmod o-w \(place)`"
            case "owner": "\(path) belongs to user 65534, who could change it"
            case "absent": "\(path) does not exist, and other users could create it in \(place)"
            default: "\(path) can be written by everybody; run `chmod o-w \(path)`"
            }
        let config = try folder.write(manifest(path), to: "tasks.json")
        let refused = try start(config)
        #expect(refused.exitCode == 78)
        #expect(refused.error.contains("error[BG1080]"), "\(refused)")
        #expect(refused.error.contains(what) && refused.error.contains(reason), "\(refused)")
        #expect(refused.error.contains("--dev"), "\(refused)")
        let check = try Command.run([Artifact.path("bghost"), "check", "--config", config])
        #expect(check.exitCode == 78)
        #expect(check.output.contains(reason), "\(check)")
        #expect(access(ran, F_OK) != 0)
        guard fault != "absent" else { return }
        let lax = try Command.run([Artifact.path("bghost"), "check", "--dev", "--config", config])
        #expect(lax.exitCode == 0, "\(lax)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A reload does not run what others can change, and --dev does`() throws {
        let ran = folder.file("ran")
        let program = try folder.write("#!/usr/bin/touch \(ran)", to: "probe.sh")
        try #require(chmod(program, 0o755) == 0)
        let text = Self.named[0].manifest(program)
        let config = try folder.write(#"{"version": 1}"#, to: "tasks.json")
        let daemon = try TestDaemon(manifest: config, folder: folder)
        try #require(chmod(program, 0o777) == 0)
        try folder.write(text, to: "tasks.json")
        let refused = try daemon.command(["reload"])
        #expect(refused.exitCode == 78, "\(refused)")
        #expect(refused.error.contains("\(program) can be written by everybody"), "\(refused)")
        #expect(daemon.stop() == 0)
        #expect(access(ran, F_OK) != 0)
        let lax = try TestDaemon(manifest: config, folder: folder, arguments: ["--dev"])
        #expect(lax.stop() == 0)
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
