// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostBundle
import BghostTestSupport
import Testing

/// An author with a plugin in C and a key, and the folder of an operator's host.
struct BundleShop {
    /// The author's folder.
    let folder: TemporaryDirectory
    let host: TemporaryDirectory
    /// The operator's manifest.
    let manifest: String

    init() async throws {
        folder = try TemporaryDirectory()
        host = try TemporaryDirectory()
        manifest = try host.write(#"{"version": 1}"#, to: "tasks.json")
        let made = try await author(
            """
            bghost plugin new photos --language c && bghost plugin keygen acme && make -s -C photos
            """
        )
        try #require(made.exitCode == 0, "\(made.output)\(made.error)")
    }

    /// The absolute path of a file of the author.
    func path(_ file: String) -> String { folder.file(file) }

    /// Runs a line of a shell in the author's folder.
    func author(_ line: String) async throws -> Command.Result {
        try await shell("export BGHOST_SDK=\"$(bghost sdk)\"; \(line)", in: folder)
    }

    /// Runs bghost with the operator's manifest.
    func operate(_ arguments: [String]) throws -> Command.Result {
        try Command.run([Artifact.path("bghost")] + arguments + ["--config", manifest])
    }

    /// The same on a terminal, at which a person types one line.
    ///
    /// - Parameter meanwhile: a command of a shell that ends before the person answers.
    func onTerminal(
        _ arguments: [String],
        answer: String,
        meanwhile: String = ":"
    ) async throws -> Command.Result {
        let program = """
            import pty, subprocess, sys, os
            sent, seen = [], bytearray()
            def read(fd):
                data = os.read(fd, 1024)
                seen.extend(data)
                if b"[y/N]" in seen and not sent:
                    sent.append(1)
                    subprocess.run(sys.argv[2], shell=True, check=True)
                    os.write(fd, sys.argv[1].encode() + b"\\n")
                return data
            sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[3:], read)))
            """
        return try await Command.runApart(
            ["python3", "-c", program, answer, meanwhile, Artifact.path("bghost")] + arguments
                + ["--config", manifest]
        )
    }

    /// What begins as a shared library of an architecture does; none of its code is ever run.
    static func library(_ architecture: Architecture) -> [UInt8] {
        let machine: UInt8 =
            switch architecture {
            case .x86: 62
            case .arm: 183
            case .riscv: 243
            }
        return [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
            + [3, 0, machine, 0]
    }

    /// The only installed bundle, as `plugin list` has it.
    func installed() throws -> JSONNode {
        let list = try JSONReader.parse(try operate(["plugin", "list", "--json"]).output)
        #expect(list["bundles"]?.array?.count == 1, "\(list.text)")
        return try #require(list["bundles"]?.array?.first)
    }

    /// Expects that nothing is installed, and nothing left of an attempt.
    func expectEmpty() throws {
        let list = try operate(["plugin", "list"])
        #expect(list.output == "no bundle is installed\n")
        let files = try Command.run(["find", host.path, "-type", "f", "-printf", "%P\n"])
        let names = files.output.split(separator: "\n").filter { $0 != "tasks.d/.bundles.lock" }
        #expect(names == ["tasks.json"], "\(names)")
    }

    /// Builds a version of the plugin, and packs and signs it.
    ///
    /// - Parameter plugin: further keys of its entry of `plugins`.
    /// - Returns: the name of the file.
    func bundle(
        _ version: String,
        plugin: String = "",
        isSigned: Bool = true
    ) async throws -> String {
        try folder.write(
            """
            {"version": 1,
            "plugins": {"photos": {"library": "./libphotos.so"\(plugin.isEmpty ? "" : ", " + plugin)}},
            "tasks": {"org.example.photos.primes": {"plugin": "photos", "handler": "primes"}}}
            """,
            to: "photos/tasks.dev.json"
        )
        let made = try await author(
            """
            sed -i 's/BG_LIT("[0-9.]*"), BG_LIT("Example")/BG_LIT("\(version)"), BG_LIT("Example")/' \
            photos/photos.c && make -s -C photos && bghost plugin pack photos --licence MIT
            """
        )
        try #require(made.exitCode == 0, "\(made.output)\(made.error)")
        let name = "photos-\(version).bghost"
        guard isSigned else { return name }
        let signed = try await author("bghost plugin sign \(name) --key acme")
        try #require(signed.exitCode == 0, "\(signed.output)\(signed.error)")
        return name
    }

    /// Puts the signature of a bundle into another one.
    ///
    /// - Returns: the name of the file.
    func forge(_ signed: String, from other: String) throws -> String {
        // The first two members are the list and the signature, each with a header of 512 bytes.
        let donor = try File.read(path(signed))
        let content = try File.read(path(other))
        func end(_ bytes: [UInt8], _ start: Int) -> Int {
            let digits = String(decoding: bytes[start + 124..<start + 135], as: UTF8.self)
            return start + 512 + ((Int(digits, radix: 8) ?? 0) + 511) / 512 * 512
        }
        let (listEnd, donorEnd) = (end(content, 0), end(donor, 0))
        let signature = donor[donorEnd..<end(donor, donorEnd)]
        return try #require(
            folder.write(
                Array(content[..<listEnd] + signature + content[listEnd...]),
                to: "forged.bghost"
            ).split(separator: "/").last.map(String.init)
        )
    }
}
