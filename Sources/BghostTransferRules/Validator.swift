// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The validator of a version of a resource: equal validators mean equal bytes.
package enum Validator: Equatable, Sendable {
    /// A strong entity tag with its quotes.
    case tag(String)
    /// A date of last modification that is old enough to identify one version.
    case date(String)

    /// The strongest validator of a response; `nil` if two versions could share it.
    package init?(_ head: AnswerHead) {
        if let tag = head["etag"] {
            // Two versions with the same weak tag are equivalent, but their bytes may differ.
            guard Self.isStrong(tag) else { return nil }
            self = .tag(tag)
            return
        }
        guard let text = head["last-modified"], let changed = HTTPDate.unixSeconds(text),
            let date = head["date"].flatMap(HTTPDate.unixSeconds)
        else { return nil }
        // The date has a resolution of one second: a file that was modified just before the response may have
        // another version with the same date (RFC 9110, section 8.8.2.2).
        guard date - changed >= 60 else { return nil }
        self = .date(text)
    }

    /// The value of `If-Range`, which is also stored.
    package var text: String {
        switch self {
        case .tag(let text), .date(let text): text
        }
    }

    /// Parses a stored `text`.
    package init?(text: String) {
        if Self.isStrong(text) {
            self = .tag(text)
        } else if HTTPDate.unixSeconds(text) != nil {
            self = .date(text)
        } else {
            return nil
        }
    }

    /// Whether a response, if it has a validator, is of this version.
    package func agrees(with head: AnswerHead) -> Bool {
        switch self {
        // A partial response must repeat the tag, but need not repeat the date (RFC 9110, section 15.3.7).
        case .tag(let tag): head["etag"] == tag
        case .date(let date): head["last-modified"].map { $0 == date } ?? true
        }
    }

    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        guard bytes.count >= 2, bytes.count <= 1024, bytes.first == UInt8(ascii: "\""),
            bytes.last == UInt8(ascii: "\"")
        else { return false }
        return bytes.dropFirst().dropLast().allSatisfy {
            $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F
        }
    }
}
