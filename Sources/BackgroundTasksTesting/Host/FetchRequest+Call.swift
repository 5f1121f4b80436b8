// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import BghostWire
internal import CBghost
internal import FoundationEssentials

extension FetchRequest {
    /// The request of a fetch; `nil` if its URL is invalid.
    init?(_ call: FetchCall) {
        guard let url = URL(string: call.url) else { return nil }
        let body: Body? =
            if !call.bodyFile.isEmpty {
                .file(call.bodyFile)
            } else {
                call.body.isEmpty ? nil : .data(Data(call.body))
            }
        self.init(
            url,
            method: call.method.isEmpty ? "GET" : call.method,
            headers: Self.fields(call.headers),
            body: body,
            digest: call.sendsDigest,
            maximumBytes: call.bytesMax == 0 ? nil : Int(call.bytesMax),
            timeout: call.timeoutMilliseconds == 0
                ? nil : .milliseconds(call.timeoutMilliseconds)
        )
    }
}

extension FetchRequest {
    /// The request of a transfer; `nil` if its URL is invalid.
    init?(_ call: TransferBegin) {
        guard let url = URL(string: call.url) else { return nil }
        let usual = call.isUpload ? "PUT" : "GET"
        let bytes: Body? = call.body.isEmpty ? nil : .data(Data(call.body))
        self.init(
            url,
            method: call.method.isEmpty ? usual : call.method,
            headers: Self.fields(call.headers),
            body: call.isUpload ? .file(call.file) : bytes
        )
    }

    private static func fields(_ lines: String) -> [(name: String, value: String)] {
        lines.split(separator: "\n").compactMap { line in
            line.firstIndex(of: ":").map { colon in
                (
                    name: String(line[..<colon]),
                    value: String(line[line.index(after: colon)...].drop { $0 == " " })
                )
            }
        }
    }
}

extension OpenTransfer.End {
    init(_ end: FetchEnd, isUpload: Bool) {
        switch end {
        case .answered(let status, let headers, let body):
            let isGood = (200...299).contains(status)
            self.init(state: isGood ? "done" : "failed")
            self.status = status
            self.headers = headers
            bytes = body.count
            if isUpload { self.body = String(decoding: body.prefix(16 << 10), as: UTF8.self) }
            if !isGood { fault = ("status", "the server answers \(status)") }
        case .failed(_, let message):
            self.init(state: "failed")
            fault = ("connection", message)
        case .timedOut:
            self.init(state: "failed")
            fault = ("expired", "the transfer took too long")
        case .cancelled: self.init(state: "cancelled")
        }
    }
}

extension FetchEnd {
    init(_ response: FetchResponse) {
        self = .answered(
            status: response.status,
            headers: response.headers,
            body: Array(response.body)
        )
    }

    init(_ error: FetchError) {
        let status =
            switch error.code {
            case .failed: BG_E_FAILED
            case .notPermitted: BG_E_PERM
            case .limitExceeded: BG_E_LIMIT
            case .invalidRequest: BG_E_ARG
            case .unavailable: BG_E_ABSENT
            }
        self = .failed(status, error.description)
    }
}
