// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostManifest
import BghostTestSupport

@testable import BghostBundle
@testable import BghostTrust

/// A small bundle, and parts of others.
enum SampleBundle {
    static let host = "lib/\(Architecture.host.rawValue)/libPhotos.so"

    static var description: BundleDescription {
        BundleDescription(
            name: "photos",
            version: "1.2.0",
            id: "org.example.photos",
            abi: ABIVersion(major: 1, minor: 0),
            handlers: ["upload"],
            licence: "Apache-2.0",
            homepage: "https://example.org/photos",
            plugin: node(#"{"permissions": {"network": ["api.example.org:443"]}}"#),
            tasks: node(#"{"org.example.photos": {"handler": "upload", "every": "1h"}}"#)
        )
    }

    /// Begins as a shared library of this machine does; none of its code is ever run.
    static func library(_ filler: UInt8 = 7) -> [UInt8] {
        let machine: UInt8 =
            switch Architecture.host {
            case .x86: 62
            case .arm: 183
            case .riscv: 243
            }
        return [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
            + [3, 0, machine, 0] + [UInt8](repeating: filler, count: 700)
    }

    static func draft(
        _ description: BundleDescription = description,
        library: [UInt8] = library()
    ) throws -> BundleDraft {
        var draft = try BundleDraft(description)
        try draft.add(.readme, Array("# photos\n".utf8))
        try draft.add(.schema(handler: "upload"), Array(#"{"type": "object"}"#.utf8))
        try draft.add(.library(.host, file: "libPhotos.so"), library)
        return draft
    }

    static func bundle(_ description: BundleDescription = description) throws -> Bundle {
        try Bundle(try draft(description).bytes())
    }

    static func node(_ text: String) -> JSONNode {
        (try? JSONReader.parse(text)) ?? JSONNode(.null)
    }

    static let zones = ZoneSource(find: { _ in .utc }, names: { [] })

    /// The key of a seed, the same each time.
    static func key(_ number: UInt8 = 1) throws -> MinisignKeyPair {
        try MinisignKeyPair(
            seed: [UInt8](repeating: number, count: 32),
            number: [UInt8](repeating: number, count: 8)
        )
    }

    /// A tar file of any members, without any rule.
    static func tar(_ members: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        members.flatMap { member(TarHeader(name: $0.name, count: $0.bytes.count), $0.bytes) }
            + [UInt8](repeating: 0, count: 1024)
    }

    static func member(_ header: TarHeader, _ bytes: [UInt8]) -> [UInt8] {
        header.block + bytes
            + [UInt8](repeating: 0, count: header.paddedCount - header.count)
    }

    /// The list of some members, and these behind it.
    static func listed(_ members: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        let lines = members.map { member in
            "\(LibraryDigest.sha256(of: [member.bytes]))  \(member.name)\n"
        }
        return tar([("SHA256SUMS", Array(lines.joined().utf8))] + members)
    }
}
