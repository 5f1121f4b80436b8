// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

@testable import BghostBundle

/// Bundles that an attacker, or a careless packer, made: `bghost plugin install` says why it refuses each, and
/// leaves nothing behind.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct ForgedBundleTests {
    private typealias Member = (name: String, kind: UInt8, bytes: [UInt8])

    private let shop: BundleShop
    /// What the author packed, without the list.
    private let own: [Member]
    private let description: BundleDescription

    init() async throws {
        shop = try await BundleShop()
        let bundle = try Bundle(HeldFile(path: shop.path(try await shop.bundle("0.1.0"))))
        description = bundle.description
        own = try bundle.members.map { ($0.name, Self.file, try bundle.bytes(of: $0)) }
    }

    @Test func `A whole bundle of the same form is installed`() throws {
        try write(own)
        let installed = try install()
        #expect(installed.exitCode == 0, "\(installed.error)")
        #expect(try shop.installed()["version"]?.string == "0.1.0")
    }

    @Test func `Names and links that lead out of the folder are refused`() throws {
        let outside = shop.folder.file("outside")
        let up = String(repeating: "../", count: 12)
        for (name, text) in [
            ("lib/\(up)\(outside.dropFirst()).so", "has `..` in its path"),
            ("\(up)\(outside.dropFirst())", "has `..` in its path"),
            (outside, "has an absolute path"),
        ] {
            let member: Member = (name, Self.file, Array("evil".utf8))
            // With its name in the list, and only in its header.
            try write(own + [member])
            try expectRefusal(text)
            try write(own, unlisted: member)
            try expectRefusal(text)
        }
        for (kind, text) in [("1", "is a hard link"), ("2", "is a symbolic link")] {
            let link = try #require(kind.utf8.first)
            // In the place of a member, and as one more.
            try write(own.map { $0.name == "README.md" ? ($0.name, link, []) : $0 })
            try expectRefusal("`README.md` \(text)")
            try write(own + [("LICENSE", link, [])])
            try expectRefusal("`LICENSE` \(text)")
        }
        #expect(access(outside, F_OK) != 0 && access(outside + ".so", F_OK) != 0)
    }

    @Test func `A second library is refused`() throws {
        let library = try #require(own.first { $0.name.hasPrefix("lib/") })
        let second = "lib/\(Architecture.host.rawValue)/libsecond.so"
        try write(own + [(second, Self.file, library.bytes)])
        try expectRefusal("there are two libraries for \(Architecture.host.rawValue)")
        // The same name twice, of which the list can have only one.
        try write(own, unlisted: library)
        try expectRefusal("`\(library.name)` is in the bundle twice")
    }

    @Test func `A schema that differs from that of the library is refused`() throws {
        for (schema, text) in [
            (#"{"type": "object"}"#, "is not the schema that handler primes has in the library"),
            ("[]", "is no JSON Schema"), ("{", "is no JSON Schema"),
        ] {
            try write(own + [("schemas/primes.json", Self.file, Array(schema.utf8))])
            try expectRefusal(text)
        }
        try write(own + [("schemas/other.json", Self.file, Array("{}".utf8))])
        try expectRefusal("is for `other`, which is none of the handlers that bundle.json names")
    }

    @Test func `A plugin of an older major of the ABI is refused`() async throws {
        var older = description
        older.abi = ABIVersion(major: 0, minor: 9)
        try write(own.map { $0.name == "bundle.json" ? ($0.name, $0.kind, older.bytes) : $0 })
        let error = try expectRefusal("needs a host of ABI 0.9 to before 1.0")
        #expect(error.contains("ask its author for a version for ABI 1.0"), "\(error)")
        // Its description says what this host wants, and the note or the table of its library is older.
        for (change, text) in [
            ("s/abi=1.0;/abi=0.9;/", "is built for abi=0.9, this bghost offers 1.0"),
            ("s/sizeof plugin, BG_ABI_MAJOR,/sizeof plugin, 0,/", "its table is of ABI major 0"),
        ] {
            let built = try await shop.author(
                """
                sed '\(change)' photos/photos.c >older.c && ! cmp -s older.c photos/photos.c
                cc -shared -fPIC -fvisibility=hidden -I"$(bghost sdk --include)" -o older.so older.c
                """
            )
            try #require(built.exitCode == 0, "\(built.error)")
            let library = try File.read(shop.path("older.so"))
            try write(own.map { $0.name.hasPrefix("lib/") ? ($0.name, $0.kind, library) : $0 })
            let refused = try expectRefusal(text)
            #expect(refused.contains("cannot be loaded here"), "\(refused)")
        }
    }

    // MARK: Helpers

    /// The kind of a plain file in a header of tar.
    private static let file = UInt8(ascii: "0")

    private func install() throws -> Command.Result {
        try shop.operate(
            ["plugin", "install", shop.path("forged.bghost"), "--yes", "--allow-unsigned"]
        )
    }

    /// Expects that the bundle is refused for a reason, and that nothing is left of it.
    ///
    /// - Returns: the message.
    @discardableResult
    private func expectRefusal(_ text: String) throws -> String {
        let refused = try install()
        #expect(refused.exitCode == 1, "\(text): \(refused.output)\(refused.error)")
        #expect(refused.error.contains(text), "\(refused.error)")
        #expect(refused.error.contains("fix: "), "\(refused.error)")
        try shop.expectEmpty()
        return refused.error
    }

    /// Writes a bundle of any members, with a list that names them, in the order that a bundle has.
    ///
    /// - Parameter unlisted: a member that follows and has no line of its own in the list.
    private func write(_ members: [Member], unlisted: Member? = nil) throws {
        let sorted = members.sorted {
            Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8))
        }
        let lines = try sorted.map { "\(try digest($0.bytes))  \($0.name)\n" }
        let all =
            [("SHA256SUMS", Self.file, Array(lines.joined().utf8))] + sorted
            + (unlisted.map { [$0] } ?? [])
        try shop.folder.write(
            all.flatMap(Self.tar) + [UInt8](repeating: 0, count: 1024),
            to: "forged.bghost"
        )
    }

    private func digest(_ bytes: [UInt8]) throws -> String {
        let path = try shop.folder.write(bytes, to: "digested")
        return String(try Command.run(["sha256sum", path]).output.prefix(64))
    }

    /// A member with its header, whose checksum is right for any kind.
    private static func tar(_ member: Member) -> [UInt8] {
        let header = TarHeader(name: member.name, count: member.bytes.count)
        var block = header.block
        // The six octal digits of the checksum, which counts its own eight bytes as spaces.
        block[156] = member.kind
        let rest = block[..<148] + block[156...]
        let sum = rest.reduce(8 * 0x20) { $0 + Int($1) }
        let digits = Array(String(sum, radix: 8).utf8)
        block.replaceSubrange(
            148..<154,
            with: [UInt8](repeating: file, count: 6 - digits.count) + digits
        )
        return block + member.bytes
            + [UInt8](repeating: 0, count: header.paddedCount - member.bytes.count)
    }
}
