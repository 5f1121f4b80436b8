// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCrypto

/// A checked bundle: its form is right, and each member is the one that the list names.
///
/// It says nothing about who made it: see `signature`.
package struct Bundle: Sendable {
    /// A member, with its place in the file.
    package struct Member: Equatable, Sendable {
        package let member: BundleMember
        /// The place of its first byte.
        package let offset: Int
        /// Its size, bytes.
        package let count: Int
        /// 64 lower-case hex digits.
        package let sha256: String

        package var name: String { member.name }
    }

    package let list: BundleList
    /// The text of the list's signature; `nil` if the bundle is not signed.
    package let signature: MinisignSignature?
    package let description: BundleDescription
    /// In the order of the list.
    package let members: [Member]
    let source: any ByteSource

    /// The library for an architecture; `nil` if the bundle has none.
    package func library(for architecture: Architecture) -> Member? {
        members.first {
            if case .library(architecture, _) = $0.member { true } else { false }
        }
    }

    /// The architectures for which it has a library.
    package var architectures: [Architecture] {
        Architecture.allCases.filter { library(for: $0) != nil }
    }

    /// The bytes of a member.
    package func bytes(of member: Member) throws(BundleError) -> [UInt8] {
        try source.read(at: member.offset, count: member.count)
    }

    /// The identity of its content: the SHA-256 of the list.
    package var digest: String { SHA256.hash(data: list.bytes).hexText }

    /// Reads and checks a whole bundle.
    ///
    /// Its cost is linear in the size of the file. Besides members of at most 1 MiB, it holds 256 KiB in
    /// memory.
    package init(_ source: some ByteSource) throws(BundleError) {
        var cursor = TarCursor(source)
        guard let first = try cursor.next(), first.name == BundleMember.listName else {
            throw .damaged("its first member is not \(BundleMember.listName)")
        }
        let bytes = try cursor.content(of: first, bytesMax: BundleMember.listBytesMax)
        list = try BundleList(bytes)
        var pending = try cursor.next()
        if let header = pending, header.name == BundleMember.signatureName {
            signature = try Self.signature(&cursor, header)
            pending = try cursor.next()
        } else {
            signature = nil
        }
        var members: [Member] = []
        var seen: Set<String> = [BundleMember.listName, BundleMember.signatureName]
        for entry in list.entries {
            guard let header = pending else {
                throw .damaged("\(entry.member.name.quoted) is listed, and is not in the bundle")
            }
            try Self.require(header, entry, list, seen)
            seen.insert(header.name)
            members.append(try Self.member(entry, header, &cursor))
            pending = try cursor.next()
        }
        if let header = pending { throw Self.unlisted(header, list, seen) }
        try cursor.requireEnd()
        self.members = members
        self.source = source
        description = try Self.describe(members, source)
    }

    // MARK: Members

    private static func signature(
        _ cursor: inout TarCursor,
        _ header: TarHeader
    ) throws(BundleError) -> MinisignSignature {
        let bytes = try cursor.content(of: header, bytesMax: MinisignSignature.bytesMax)
        do throws(TrustError) {
            return try MinisignSignature(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw .damaged("\(BundleMember.signatureName): \(error.description)")
        }
    }

    private static func require(
        _ header: TarHeader,
        _ entry: BundleList.Entry,
        _ list: BundleList,
        _ seen: Set<String>
    ) throws(BundleError) {
        guard !header.name.isSameText(as: entry.member.name) else { return }
        guard list.names.contains(header.name), !seen.contains(header.name) else {
            throw unlisted(header, list, seen)
        }
        throw .damaged(
            "\(entry.member.name.quoted) is listed, and is not in its place: \(header.name.quoted) is"
        )
    }

    private static func unlisted(
        _ header: TarHeader,
        _ list: BundleList,
        _ seen: Set<String>
    ) -> BundleError {
        seen.contains(header.name)
            ? .damaged("\(header.name.quoted) is in the bundle twice")
            : .damaged("\(header.name.quoted) is in the bundle, and is not in its list")
    }

    private static func member(
        _ entry: BundleList.Entry,
        _ header: TarHeader,
        _ cursor: inout TarCursor
    ) throws(BundleError) -> Member {
        var function = SHA256()
        let offset = try cursor.pass(over: header, bytesMax: entry.member.bytesMax) { piece in
            function.update(data: piece)
        }
        guard function.finalize().hexText == entry.sha256 else {
            throw .damaged(
                "\(header.name.quoted) is not the member that is listed: its SHA-256 is another one"
            )
        }
        return Member(
            member: entry.member,
            offset: offset,
            count: header.count,
            sha256: entry.sha256
        )
    }

    // MARK: Contents

    private static func describe(
        _ members: [Member],
        _ source: some ByteSource
    ) throws(BundleError) -> BundleDescription {
        var description: BundleDescription?
        for member in members where member.member == .description {
            description = try BundleDescription(
                try source.read(at: member.offset, count: member.count)
            )
        }
        guard let description else { throw .damaged("there is no bundle.json") }
        for member in members {
            switch member.member {
            case .schema(let handler):
                guard description.handlers.contains(handler) else {
                    throw .damaged(
                        "\(member.name.quoted) is for \(handler.quoted), which is none of the"
                            + " handlers that bundle.json names"
                    )
                }
                try SchemaText.check(
                    try source.read(at: member.offset, count: member.count),
                    member.name
                )
            case .library(let architecture, _):
                let header = try source.read(at: member.offset, count: min(20, member.count))
                guard Architecture(elf: header) == architecture else {
                    throw .damaged(
                        "\(member.name.quoted) is no shared library for \(architecture.rawValue)"
                    )
                }
            default: break
            }
        }
        return description
    }

}

/// The text of a schema of parameters.
enum SchemaText {
    /// Throws unless it is a JSON object.
    static func check(_ bytes: [UInt8], _ name: String) throws(BundleError) {
        do throws(JSONError) {
            let node = try JSONReader.parse(bytes, dialect: .strict)
            guard node.object != nil else { throw JSONError(.notAnObject, at: node.span) }
        } catch {
            throw BundleError(
                "\(name.quoted) is no JSON Schema: \(error.description)",
                fix: "write a JSON object, such as {\"type\": \"object\"}"
            )
        }
    }
}
