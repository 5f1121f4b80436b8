// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import CBghost
internal import FoundationEssentials

extension TransferRequest {
    init(
        _ request: URLRequest,
        of settings: SessionSettings,
        session: String,
        upload: URL? = nil,
        label: String? = nil,
        earliest: Date? = nil,
        isData: Bool = false
    ) throws {
        guard let url = request.url else { throw URLError(.badURL, nil, "a request without a URL") }
        let method = request.httpMethod ?? "GET"
        var flags: UInt32 = 0
        if upload != nil { flags |= UInt32(BG_TRANSFER_UPLOAD) }
        if upload != nil, settings.resumesUploads { flags |= UInt32(BG_TRANSFER_RESUMABLE) }
        if settings.isDiscretionary || !request.isUnrestricted {
            flags |= UInt32(BG_TRANSFER_DISCRETIONARY)
        }
        if !settings.sendsLaunchEvents { flags |= UInt32(BG_TRANSFER_NO_WAKE) }
        self.init(
            session: session,
            url: url,
            // A file is not sent by GET: source for Apple's platforms often leaves the method out.
            method: upload != nil && method == "GET" ? "PUT" : method,
            headers: request.headers(under: settings),
            body: upload == nil ? request.httpBody ?? Data() : Data(),
            upload: upload?.path,
            label: label ?? "",
            earliest: earliest,
            flags: flags,
            idleTimeout: request.timeout(under: settings),
            totalTimeout: settings.resourceTimeout
        )
        self.isData = isData && upload == nil
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
