// SPDX-License-Identifier: Apache-2.0

package import CBghost
package import FoundationEssentials

/// A session's request for a transfer by the host.
package struct TransferRequest: Sendable {
    let session: String
    package let url: URL
    let method: String
    let headers: [(name: String, value: String)]
    let body: Data
    /// The file to upload; `nil` for a download.
    let upload: String?
    let label: String
    let earliest: Date?
    let flags: UInt32
    let idleTimeout: TimeInterval
    let totalTimeout: TimeInterval
    /// Whether a data task starts it, so that its delegate gets data, also in a wake.
    package var isData = false

    package init(
        session: String,
        url: URL,
        method: String,
        headers: [(name: String, value: String)],
        body: Data,
        upload: String?,
        label: String,
        earliest: Date?,
        flags: UInt32,
        idleTimeout: TimeInterval,
        totalTimeout: TimeInterval
    ) {
        self.session = session
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.upload = upload
        self.label = label
        self.earliest = earliest
        self.flags = flags
        self.idleTimeout = idleTimeout
        self.totalTimeout = totalTimeout
    }

    /// The key that distinguishes requests of a session.
    ///
    /// The headers and the body are hashed with FNV-1a, since Swift's own hashes differ between
    /// processes; the rest is readable.
    package var key: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        let fields = headers.map { "\($0.name.lowercased()):\($0.value)\n" }.joined()
        for byte in Array(fields.utf8) + Array(body) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return "\(method) \(url.absoluteString) \(String(hash, radix: 16)) \(upload ?? "")"
    }

    /// Lends the request to the host for the duration of one call.
    func withCRequest(
        _ body: (UnsafePointer<bg_transfer_request>) -> bg_status
    ) throws -> bg_status {
        let lines = try FetchRequest(url, headers: headers).headerLines()
        let continuation = try JSON.encode(
            TransferKey(request: key, data: isData ? true : nil)
        )
        // One allocation for all texts, instead of nested closures for each.
        let texts = LentTexts([
            session, url.absoluteString, method, lines, upload ?? "",
            String(decoding: continuation, as: UTF8.self), label,
        ])
        return texts.withTexts { texts in
            self.body.withUnsafeBytes { bytes in
                var request = bg_transfer_request()
                request.size = UInt32(MemoryLayout<bg_transfer_request>.size)
                request.flags = flags
                request.session = texts[0]
                request.url = texts[1]
                request.method = texts[2]
                request.headers = texts[3]
                request.body = bg_str(bytes)
                request.file = texts[4]
                request.continuation = texts[5]
                request.label = texts[6]
                request.earliest_unix_ms = earliest?.unixMilliseconds ?? 0
                request.idle_timeout_ms = Self.milliseconds(idleTimeout)
                request.total_timeout_ms = Self.milliseconds(totalTimeout)
                return withUnsafePointer(to: request, body)
            }
        }
    }

    private static func milliseconds(_ interval: TimeInterval) -> Int64 {
        guard interval > 0 else { return 0 }
        return Int64(exactly: (interval * 1000).rounded(.up)) ?? .max
    }
}

/// Texts that are lent to the host together.
package struct LentTexts {
    private let bytes: [UInt8]
    private let ranges: [Range<Int>]

    package init(_ texts: [String]) {
        var bytes: [UInt8] = []
        ranges = texts.map { text in
            let start = bytes.count
            bytes += text.utf8
            return start..<bytes.count
        }
        self.bytes = bytes
    }

    package func withTexts<Answer>(_ body: ([bg_str]) throws -> Answer) rethrows -> Answer {
        try bytes.withUnsafeBytes { buffer in
            try body(ranges.map { bg_str(UnsafeRawBufferPointer(rebasing: buffer[$0])) })
        }
    }
}
