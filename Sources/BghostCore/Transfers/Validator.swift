// SPDX-License-Identifier: Apache-2.0

/// What tells one version of a resource from another, byte for byte.
package enum Validator: Equatable, Sendable {
    /// A strong entity tag with its quotes.
    case tag(String)
    /// A date of last change that is old enough to be one of a single version.
    case date(String)

    /// The strongest that an answer has; `nil` if two versions might share what it has.
    package init?(_ head: AnswerHead) {
        if let tag = head["etag"] {
            // A weak tag says that two versions mean the same, not that their bytes are the same.
            guard Self.isStrong(tag) else { return nil }
            self = .tag(tag)
            return
        }
        guard let text = head["last-modified"], let changed = HTTPDate.unixSeconds(text),
            let date = head["date"].flatMap(HTTPDate.unixSeconds)
        else { return nil }
        // It counts in seconds: of a file that was written within the last ones there may be
        // another version with the same date (RFC 9110, section 8.8.2.2).
        guard date - changed >= 60 else { return nil }
        self = .date(text)
    }

    /// What is sent as `If-Range`, and kept.
    package var text: String {
        switch self {
        case .tag(let text), .date(let text): text
        }
    }

    /// Reads what `text` was.
    package init?(text: String) {
        if Self.isStrong(text) {
            self = .tag(text)
        } else if HTTPDate.unixSeconds(text) != nil {
            self = .date(text)
        } else {
            return nil
        }
    }

    /// Whether an answer that has validators at all is of this version.
    package func agrees(with head: AnswerHead) -> Bool {
        switch self {
        // A part need not repeat the date, but must repeat the tag (RFC 9110, section 15.3.7).
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
