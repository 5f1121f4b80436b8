// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

/// A session's request for a transfer by the host.
struct TransferRequest: Sendable {
    let session: String
    let url: URL
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

    init(
        _ request: URLRequest,
        of settings: SessionSettings,
        session: String,
        upload: URL? = nil,
        label: String? = nil,
        earliest: Date? = nil
    ) throws {
        guard let url = request.url else { throw URLError(.badURL, nil, "a request without a URL") }
        self.session = session
        self.url = url
        self.upload = upload?.path
        let method = request.httpMethod ?? "GET"
        // A file is not sent by GET: source for Apple's platforms often leaves the method out.
        self.method = upload != nil && method == "GET" ? "PUT" : method
        headers = request.headers(under: settings)
        body = upload == nil ? request.httpBody ?? Data() : Data()
        self.label = label ?? ""
        self.earliest = earliest
        idleTimeout = request.timeout(under: settings)
        totalTimeout = settings.resourceTimeout
        var flags: UInt32 = 0
        if upload != nil { flags |= UInt32(BG_TRANSFER_UPLOAD) }
        if upload != nil, settings.resumesUploads { flags |= UInt32(BG_TRANSFER_RESUMABLE) }
        if settings.isDiscretionary || !request.isUnrestricted {
            flags |= UInt32(BG_TRANSFER_DISCRETIONARY)
        }
        if !settings.sendsLaunchEvents { flags |= UInt32(BG_TRANSFER_NO_WAKE) }
        self.flags = flags
    }

    /// The key that distinguishes requests of a session.
    ///
    /// The headers and the body are hashed with FNV-1a, since Swift's own hashes differ between
    /// processes; the rest is readable.
    var key: String {
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
        let continuation = try JSON.encode(TransferKey(request: key))
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

extension URLRequest {
    /// The request's header fields, and those of the session that the request does not set.
    func headers(under settings: SessionSettings) -> [(name: String, value: String)] {
        let own = (allHTTPHeaderFields ?? [:]).map { (name: $0, value: $1) }
            .sorted { $0.name < $1.name }
        let names = Set(own.map { $0.name.lowercased() })
        return settings.headers.filter { !names.contains($0.name.lowercased()) } + own
    }

    /// The timeout without data, seconds.
    ///
    /// 60 is the default of a request, so the session's value applies then.
    func timeout(under settings: SessionSettings) -> TimeInterval {
        timeoutInterval == 60 ? settings.requestTimeout : timeoutInterval
    }

    /// Whether any network may be used.
    var isUnrestricted: Bool {
        allowsCellularAccess && allowsExpensiveNetworkAccess && allowsConstrainedNetworkAccess
    }
}

/// Texts that are lent to the host together.
struct LentTexts {
    private let bytes: [UInt8]
    private let ranges: [Range<Int>]

    init(_ texts: [String]) {
        var bytes: [UInt8] = []
        ranges = texts.map { text in
            let start = bytes.count
            bytes += text.utf8
            return start..<bytes.count
        }
        self.bytes = bytes
    }

    func withTexts<Answer>(_ body: ([bg_str]) throws -> Answer) rethrows -> Answer {
        try bytes.withUnsafeBytes { buffer in
            try body(ranges.map { bg_str(UnsafeRawBufferPointer(rebasing: buffer[$0])) })
        }
    }
}
