// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// The one way in which the record is written and read: sorted keys, RFC 3339 times in UTC with
/// milliseconds, slashes as they are.
package enum RecordCoding {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// A time as it stands in the record.
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
