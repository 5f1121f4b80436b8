// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import CBghost
internal import FoundationEssentials

extension FetchRequest {
    /// What a handler asked for; `nil` if its address is none.
    init?(_ call: FetchCall) {
        guard let url = URL(string: call.url) else { return nil }
        let headers = call.headers.split(separator: "\n").compactMap { line in
            line.firstIndex(of: ":").map { colon in
                (
                    name: String(line[..<colon]),
                    value: String(line[line.index(after: colon)...].drop { $0 == " " })
                )
            }
        }
        let body: Body? =
            if !call.file.isEmpty {
                .file(call.file)
            } else {
                call.bytes.isEmpty ? nil : .data(Data(call.bytes))
            }
        self.init(
            url,
            method: call.method.isEmpty ? "GET" : call.method,
            headers: headers,
            body: body,
            digest: call.flags & UInt32(BG_FETCH_DIGEST) != 0,
            maximumBytes: call.bytesMax == 0 ? nil : Int(call.bytesMax),
            timeout: call.timeout == 0 ? nil : .milliseconds(call.timeout)
        )
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
