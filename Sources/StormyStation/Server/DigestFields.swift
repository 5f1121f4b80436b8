// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPTypes

/// The digests that a sender announces (RFC 9530).
///
/// Both fields are dictionaries: `sha-256=:<base64>:, sha-512=:<base64>:`. The station checks only sha-256.
/// It does not decode content codings, so `Repr-Digest` and `Content-Digest` refer to the same bytes here.
struct DigestFields: Equatable {
    /// The digests that the received bytes must have; not empty.
    let announced: [[UInt8]]

    enum Failure: Error, Equatable {
        /// Neither field contains a sha-256 digest.
        case missing
        case malformed(field: String)
    }

    init(_ fields: HTTPFields) throws(Failure) {
        var announced: [[UInt8]] = []
        for name in [HTTPField.Name.reprDigest, .contentDigest] {
            guard let value = fields[name] else { continue }
            if let digest = try Self.sha256(in: value, field: name.rawName) {
                announced.append(digest)
            }
        }
        guard !announced.isEmpty else { throw .missing }
        self.announced = announced
    }

    /// Whether each announced digest equals this one.
    func match(_ digest: some Sequence<UInt8>) -> Bool {
        announced.allSatisfy { $0.elementsEqual(digest) }
    }

    /// For a duplicate key, the last member counts: RFC 8941, section 3.2.
    private static func sha256(in value: String, field: String) throws(Failure) -> [UInt8]? {
        var found: [UInt8]?
        for member in value.split(separator: ",", omittingEmptySubsequences: false) {
            let trimmed = member.trimmingPrefix { $0 == " " || $0 == "\t" }
            guard let equals = trimmed.firstIndex(of: "=") else {
                throw .malformed(field: field)
            }
            guard trimmed[..<equals] == "sha-256" else { continue }
            found = try bytes(of: trimmed[trimmed.index(after: equals)...], field: field)
        }
        return found
    }

    /// Parses `:<base64>:`; parameters after a semicolon are permitted and ignored.
    private static func bytes(
        of item: Substring,
        field: String
    ) throws(Failure) -> [UInt8] {
        let parts = item.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty,
            parts[2].allSatisfy({ $0 == " " || $0 == "\t" }) || parts[2].hasPrefix(";"),
            let data = Data(base64Encoded: String(parts[1])), data.count == 32
        else {
            throw .malformed(field: field)
        }
        return Array(data)
    }
}

extension HTTPField.Name {
    /// `Repr-Digest`.
    static let reprDigest = named("Repr-Digest")
    /// `Content-Digest`.
    static let contentDigest = named("Content-Digest")
    /// `Idempotency-Key`.
    static let idempotencyKey = named("Idempotency-Key")

    /// A field name from a constant in this source, which must be a valid token.
    static func named(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("\(name) is not a field name") }
        return name
    }
}
