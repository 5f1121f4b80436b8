// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// What an answer of a receiver of OTLP/HTTP means.
package enum ExportAnswer: Equatable, Sendable {
    /// The receiver has taken all spans but these.
    case taken(rejected: UInt64, message: String)
    /// The same batch may be sent again, after this time if the receiver named one, nanoseconds.
    case later(after: UInt64?, reason: String)
    /// The batch will never be taken.
    case refused(String)

    /// The most bytes of a message that are kept.
    private static let messageBytesMax = 200

    /// - Parameters:
    ///   - headers: names in lower case, and values.
    ///   - unixNow: Unix nanoseconds, for a date in `Retry-After`.
    package init(status: Int, headers: [(String, String)], body: [UInt8], unixNow: Int64) {
        switch status {
        case 200..<300: self = Self.taken(body)
        // The statuses that the specification of OTLP names as those to try again.
        case 429, 502, 503, 504:
            self = .later(
                after: Self.delay(headers, unixNow: unixNow),
                reason: "it answered \(status)"
            )
        default: self = .refused("it answered \(status)")
        }
    }

    /// Reads `partialSuccess`; a body that is no such message means that all was taken.
    private static func taken(_ body: [UInt8]) -> ExportAnswer {
        // The status has said that the receiver took them; the body can only take something back.
        guard !body.isEmpty, let node = try? JSONReader.parse(body),
            let partial = node["partialSuccess"]
        else { return .taken(rejected: 0, message: "") }
        // A 64-bit number is a string in this JSON; some receivers write a number.
        let count = partial["rejectedSpans"]
        let rejected =
            count?.string.flatMap { UInt64($0) } ?? count?.int64.map { UInt64(clamping: $0) }
        let message = PrintableText.escaped(
            (partial["errorMessage"]?.string ?? "").shortened(toBytes: messageBytesMax)
        )
        return .taken(rejected: rejected ?? 0, message: message)
    }

    /// The delay of `Retry-After`, nanoseconds: seconds, or a date.
    private static func delay(_ headers: [(String, String)], unixNow: Int64) -> UInt64? {
        guard let text = headers.first(where: { $0.0 == "retry-after" })?.1 else { return nil }
        if let seconds = UInt64(text), seconds <= 86_400 { return seconds * 1_000_000_000 }
        guard let then = HTTPDate.unixSeconds(text) else { return nil }
        return UInt64(max(0, min(86_400, then - unixNow / 1_000_000_000))) * 1_000_000_000
    }
}
