// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import BghostTrust
import Testing

/// Signatures, made and checked by both sides: this library, and the real `minisign`.
@Suite(.ownThreads) struct MinisignTests {
    private let folder: TemporaryDirectory
    private let file: String
    private let secret: String
    private let key: MinisignPublicKey

    init() throws {
        folder = try TemporaryDirectory()
        file = try folder.write("the library", to: "plugin.so")
        secret = folder.file("secret.key")
        key = try Self.makeKey(folder, secret)
    }

    private static func makeKey(
        _ folder: TemporaryDirectory,
        _ secret: String
    ) throws -> MinisignPublicKey {
        let file = secret + ".pub"
        try minisign(["-G", "-W", "-f", "-p", file, "-s", secret])
        return try MinisignPublicKey(text(file))
    }

    private static func minisign(_ arguments: [String]) throws {
        let result = try Command.run(["minisign"] + arguments)
        try #require(result.exitCode == 0, "\(result.output)\(result.error)")
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try File.read(path), as: UTF8.self)
    }

    private var signer: LibraryPin.Signer { LibraryPin.Signer(name: "acme", key: key) }

    private func hold(_ signer: LibraryPin.Signer) throws -> HeldLibrary? {
        try LibraryPin(sha256: nil, signer: signer)?.hold(file)
    }

    /// Signs as `bghost plugin sign` does.
    private func sign() throws {
        let key = try MinisignSecretKey(Self.text(secret))
        let bytes = try HeldLibrary(path: file).bytes()
        try folder.write(try key.sign(bytes, comment: "by a test").text, to: "plugin.so.minisig")
    }

    @Test func `minisign verifies bghost's signatures`() throws {
        try sign()
        try Self.minisign(["-V", "-p", secret + ".pub", "-m", file])
        #expect(try hold(signer) != nil)
    }

    @Test func `bghost verifies minisign's signatures`() throws {
        try Self.minisign(["-S", "-l", "-s", secret, "-m", file])
        #expect(try hold(signer) != nil)
    }

    @Test func `A signature of a hash is refused, and the error says what to do`() throws {
        try Self.minisign(["-S", "-H", "-s", secret, "-m", file])
        let error = #expect(throws: TrustError.self) { try hold(signer) }
        #expect(error?.description.contains("sign the file itself, with `bghost plugin") == true)
    }

    @Test func `Unsigned, tampered and foreign signatures give different errors`() throws {
        let unsigned = #expect(throws: TrustError.self) { try hold(signer) }
        #expect(unsigned?.description.contains("it is not signed") == true)

        try sign()
        let stranger = LibraryPin.Signer(
            name: "stranger",
            key: try Self.makeKey(folder, folder.file("other.key"))
        )
        let other = #expect(throws: TrustError.self) { try hold(stranger) }
        #expect(other?.description.contains("it is signed with key \(key.name)") == true)
        #expect(other?.description.contains("not by `stranger`") == true)

        try folder.write("The library", to: "plugin.so")
        let tampered = #expect(throws: TrustError.self) { try hold(signer) }
        #expect(tampered?.description.contains("it is not what `acme` signed") == true)
    }

    @Test func `A changed comment is refused`() throws {
        try sign()
        let text = try Self.text(file + ".minisig").replacing("by a test", with: "by a text")
        try folder.write(text, to: "plugin.so.minisig")
        let error = #expect(throws: TrustError.self) { try hold(signer) }
        #expect(error?.description.contains("the trusted comment of its signature") == true)
    }

    /// Each of its bits, since an attacker may change any.
    @Test func `No changed signature is accepted`() throws {
        try sign()
        let good = try File.read(file + ".minisig")
        let letters = good.indices.filter { index in
            let line = good[..<index].count { $0 == UInt8(ascii: "\n") }
            return line == 1 || line == 3
        }
        for index in letters {
            var bad = good
            bad[index] ^= 1
            try folder.write(bad, to: "plugin.so.minisig")
            #expect(throws: TrustError.self) { try hold(signer) }
        }
    }

    @Test(arguments: ["", "\n\n\n\n", "untrusted comment: x\nAAAA\ntrusted comment: y\nAAAA\n"])
    func `An invalid signature file is refused`(text: String) throws {
        try folder.write(text, to: "plugin.so.minisig")
        let error = #expect(throws: TrustError.self) { try hold(signer) }
        #expect(error?.description.contains("is not in minisign's format") == true)
    }

    @Test(arguments: ["", "RW", "RWQ=", String(repeating: "A", count: 56)])
    func `An invalid key is refused`(text: String) {
        #expect(throws: TrustError.self) { try MinisignPublicKey(text) }
        #expect(throws: TrustError.self) {
            try MinisignSecretKey("untrusted comment: x\n\(text)\n")
        }
    }

    @Test func `A key is read from its line and from its file`() throws {
        #expect(try MinisignPublicKey(key.line) == key)
        #expect(key.line.hasPrefix("RW") && key.line.utf8.count == 56)
        #expect(try Self.text(secret + ".pub").contains(key.name))
    }
}
