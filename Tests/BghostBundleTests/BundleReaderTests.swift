// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

@testable import BghostBundle
@testable import BghostTrust

/// Bundles as they are packed, and as an attacker would make them.
@Suite struct BundleReaderTests {
    @Test func `A bundle is read as it was written`() throws {
        let bundle = try SampleBundle.bundle()
        #expect(bundle.description == SampleBundle.description)
        #expect(
            bundle.members.map(\.name) == [
                "README.md", "bundle.json", SampleBundle.host, "schemas/upload.json",
            ]
        )
        #expect(bundle.architectures == [.host] && bundle.signature == nil)
        let library = try #require(bundle.library(for: .host))
        #expect(try bundle.bytes(of: library) == SampleBundle.library())
        #expect(library.sha256 == LibraryDigest.sha256(of: [SampleBundle.library()]))
    }

    @Test func `The same content becomes the same bytes`() throws {
        let first = try SampleBundle.draft().bytes()
        var other = try BundleDraft(SampleBundle.description)
        try other.add(.library(.host, file: "libPhotos.so"), SampleBundle.library())
        try other.add(.schema(handler: "upload"), Array(#"{"type": "object"}"#.utf8))
        try other.add(.readme, Array("# photos\n".utf8))
        #expect(try other.bytes() == first)
        #expect(try SampleBundle.draft(library: SampleBundle.library(8)).bytes() != first)
    }

    @Test func `The system's tar, sha256sum and minisign read it`() throws {
        let folder = try TemporaryDirectory()
        let pair = try SampleBundle.key()
        let secret = try MinisignSecretKey(pair.secretText)
        let path = folder.file("photos-1.2.0.bghost")
        try SampleBundle.bundle().signed(by: secret).write(to: path)
        for line in [
            "tar -xf photos-1.2.0.bghost", "sha256sum --strict -c SHA256SUMS",
            "minisign -Vm SHA256SUMS -P \(pair.publicKey.line)",
        ] {
            let result = try Command.run(
                ["env", "-C", folder.path] + line.split(separator: " ").map(String.init)
            )
            #expect(result.exitCode == 0, "\(line): \(result.output)\(result.error)")
        }
        #expect(try File.read(folder.file(SampleBundle.host)) == SampleBundle.library())
        let again = try Bundle(HeldFile(path: path))
        #expect(again.verify([TrustedKey(name: "acme", key: pair.publicKey)]).word == "signed")
    }

    @Test func `minisign signs with a key of keygen`() throws {
        let folder = try TemporaryDirectory()
        let pair = try MinisignKeyPair()
        let key = try folder.write(Array(pair.secretText.utf8), to: "key")
        let file = try folder.write("text", to: "file")
        // It checks the checksum of the key file, and asks for no password.
        let signed = try Command.run(["minisign", "-S", "-l", "-s", key, "-m", file])
        #expect(signed.exitCode == 0, "\(signed.output)\(signed.error)")
        let text = String(decoding: try File.read(file + ".minisig"), as: UTF8.self)
        try MinisignSignature(text).check(
            Array("text".utf8),
            by: try MinisignPublicKey(pair.publicText),
            signer: "own"
        )
        #expect(try MinisignSecretKey(pair.secretText).publicKey == pair.publicKey)
        #expect(try MinisignKeyPair().publicKey != pair.publicKey)
    }

    // MARK: Signatures

    @Test func `Unsigned, unknown, tampered and right are four answers`() throws {
        let (own, other) = (try SampleBundle.key(1), try SampleBundle.key(2))
        let acme = TrustedKey(name: "acme", key: own.publicKey)
        let bundle = try SampleBundle.bundle()
        #expect(bundle.verify([acme]) == .unsigned)
        let signed = try Bundle(
            try bundle.signed(by: try MinisignSecretKey(own.secretText)).bytes()
        )
        #expect(signed.verify([acme]) == .signed(by: acme))
        #expect(
            signed.verify([TrustedKey(name: "other", key: other.publicKey)])
                == .unknownKey(number: own.publicKey.name)
        )
        // A signature of other content, by the right key.
        var description = SampleBundle.description
        description.version = "1.2.1"
        let signature = try #require(signed.signature)
        let changed = try Bundle(
            BundleDraft(try SampleBundle.bundle(description), signature: signature).bytes()
        )
        guard case .tampered(let why) = changed.verify([acme]) else {
            Issue.record("\(changed.verify([acme]))")
            return
        }
        #expect(why.contains("is not what `acme` signed"))
        // Another key may have the same number.
        let twin = MinisignPublicKey(number: own.publicKey.number, key: other.publicKey.key)
        #expect(
            signed.verify([TrustedKey(name: "twin", key: twin), acme]) == .signed(by: acme)
        )
    }

    // MARK: Damage

    @Test func `Each cut and each changed byte is refused`() throws {
        var draft = try BundleDraft(SampleBundle.description)
        try draft.add(.library(.host, file: "libP.so"), Array(SampleBundle.library().prefix(24)))
        let bytes = try draft.bytes()
        for count in 0..<bytes.count where count % 31 == 0 || count % 512 < 2 {
            #expect(throws: BundleError.self, "\(count) bytes") {
                try Bundle(Array(bytes[..<count]))
            }
        }
        // All that says something, and a part of the zeros between.
        for index in bytes.indices where bytes[index] != 0 || index % 9 == 0 {
            var changed = bytes
            changed[index] ^= UInt8(truncatingIfNeeded: 1 << (index % 8))
            #expect(throws: BundleError.self, "byte \(index)") { try Bundle(changed) }
        }
        #expect(throws: BundleError.self) { try Bundle(bytes + [0]) }
        #expect(throws: BundleError.self) { try Bundle([UInt8]()) }
    }

    @Test(
        arguments: [
            ("/etc/passwd", "has an absolute path"), ("lib/../../x", "has `..` in its path"),
            ("lib//x.so", "an empty part"), ("./bundle.json", "an empty part"),
            ("setup.sh", "is none that a bundle may have"),
            ("lib/x86_64/../x.so", "has `..`"), ("lib/mips/x.so", "does not know"),
            ("lib/x86_64/.hidden.so", "is none that"), ("schemas/a b.json", "is none that"),
            ("SHA256SUMS", "is none that a bundle may have"),
        ]
    )
    func `A name that a bundle must not have is refused`(name: String, why: String) throws {
        try expect(SampleBundle.listed([(name, [1])]), refusedFor: why)
    }

    @Test(
        arguments: [
            ("1", "a hard link"), ("2", "a symbolic link"), ("3", "a device"), ("4", "a device"),
            ("5", "a folder"), ("6", "a FIFO"), ("x", "an extension of tar"),
            ("L", "an extension of tar"),
        ]
    )
    func `Only plain files are read`(kind: String, why: String) throws {
        var bytes = try SampleBundle.draft().bytes()
        for index in stride(from: 1024, to: bytes.count, by: 512)
        where bytes[index...].starts(with: Array("README.md\0".utf8)) {
            bytes[index + 156] = try #require(kind.utf8.first)
        }
        try expect(bytes, refusedFor: why)
    }

    @Test func `Members and their list must agree`() throws {
        let own = try SampleBundle.bundle()
        var members: [(name: String, bytes: [UInt8])] = []
        for member in own.members { members.append((member.name, try own.bytes(of: member))) }
        let library = SampleBundle.library()
        #expect(try Bundle(SampleBundle.listed(members)).description == own.description)

        let list = ("SHA256SUMS", own.list.bytes)
        try expect(SampleBundle.tar([list]), refusedFor: "`README.md` is listed, and is not in")
        try expect(
            SampleBundle.tar([list] + Array(members.dropLast())),
            refusedFor: "`schemas/upload.json` is listed, and is not in the bundle"
        )
        try expect(
            SampleBundle.tar([list] + members + [("LICENSE", [1])]),
            refusedFor: "`LICENSE` is in the bundle, and is not in its list"
        )
        try expect(
            SampleBundle.tar([list] + members + [members[0]]),
            refusedFor: "`README.md` is in the bundle twice"
        )
        try expect(
            SampleBundle.tar([list] + Array(members.reversed())),
            refusedFor: "is not in its place"
        )
        try expect(SampleBundle.tar(members), refusedFor: "its first member is not SHA256SUMS")
        try expect(SampleBundle.tar([list, list] + members), refusedFor: "is in the bundle twice")
        var other = members
        other[0].bytes = Array("# PHOTOS\n".utf8)
        try expect(SampleBundle.tar([list] + other), refusedFor: "its SHA-256 is another one")

        let second = "lib/\(Architecture.host.rawValue)/libQ.so"
        try expect(
            SampleBundle.listed(Array(members[..<3]) + [(second, library)]),
            refusedFor: "there are two libraries for \(Architecture.host.rawValue)"
        )
        let foreign = Architecture.allCases.first { $0 != .host }?.rawValue ?? ""
        try expect(
            SampleBundle.listed([members[1], ("lib/\(foreign)/libQ.so", library)]),
            refusedFor: "is no shared library for \(foreign)"
        )
        try expect(SampleBundle.listed([members[1]]), refusedFor: "there is no library")
        try expect(SampleBundle.listed([members[2]]), refusedFor: "no bundle.json in the list")
        try expect(
            SampleBundle.listed([members[1], members[2], ("schemas/upload.json", [0x5B, 0x5D])]),
            refusedFor: "is no JSON Schema"
        )
        try expect(
            SampleBundle.listed([members[1], members[2], ("schemas/other.json", [0x7B, 0x7D])]),
            refusedFor: "none of the handlers"
        )
    }

    @Test func `A size beyond the bounds is refused before anything is read`() throws {
        let header = TarHeader(name: "SHA256SUMS", count: 1 << 32)
        try expect(
            SampleBundle.member(TarHeader(name: "SHA256SUMS", count: 20000), []),
            refusedFor: "16384 are possible"
        )
        try expect(header.block, refusedFor: "4294967296 bytes")
        let lines = (0..<100).map {
            "\(String(repeating: "0", count: 64))  schemas/h\($0 + 100).json\n"
        }
        try expect(
            SampleBundle.tar([("SHA256SUMS", Array(lines.joined().utf8))]),
            refusedFor: "line 65 of SHA256SUMS is one too many"
        )
    }

    private func expect(_ bytes: [UInt8], refusedFor why: String) throws {
        let error = #expect(throws: BundleError.self) { try Bundle(bytes) }
        #expect(error?.message.contains(why) == true, "\(error?.message ?? "accepted")")
        #expect(error?.fix.isEmpty == false)
    }
}
