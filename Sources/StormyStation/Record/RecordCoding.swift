// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// The format of the record: JSON with sorted keys, RFC 3339 times in UTC with milliseconds, and unescaped
/// slashes.
package enum RecordCoding {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Formats a time for the record.
    package static func text(_ date: Date) -> String { date.formatted(style) }

    package static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(text(date))
        }
        return encoder
    }

    package static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            return try Date(container.decode(String.self), strategy: style)
        }
        return decoder
    }
}
