// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import CBghost

/// A call of a run that the host answers later: a fetch, a sleep, or a wait for a transfer.
struct OpenCall: Hashable, Sendable {
    /// The runtime's number of the call.
    let number: UInt64
    /// The engine's number of the run.
    let run: UInt64
}

extension HostAnswer {
    /// The end of a sleep, or of a wait for a transfer that continues without the run.
    static let cancelled = HostAnswer(status: BG_E_CANCELLED)

    /// The end of a sleep that lasted until its time.
    static let awake = HostAnswer(status: BG_OK)

    /// The end of a wait for a transfer.
    ///
    /// - Parameter transfer: the transfer as JSON.
    static func ended(_ transfer: String) -> HostAnswer {
        HostAnswer(status: BG_OK, body: .transfers(Array(transfer.utf8)))
    }

    /// The end of a fetch, as the daemon reports it.
    init(_ end: FetchEnd) {
        switch end {
        case .answered(let status, let headers, let body):
            self.init(
                status: BG_OK,
                body: .fetched(
                    httpStatus: Int32(clamping: status),
                    headers: headers.map { "\($0.name.lowercased()): \($0.value)\n" }.joined(),
                    message: "",
                    body: body
                )
            )
        case .failed(let status, let message):
            self.init(
                status: status,
                body: .fetched(httpStatus: 0, headers: "", message: message, body: [])
            )
        case .timedOut(let limit):
            self.init(
                .failed(
                    BG_E_FAILED,
                    "the fetch did not end within its \(limit): raise its timeout or ask for less"
                )
            )
        case .cancelled: self = .cancelled
        }
    }

    /// A JSON array, or its length if the plugin's buffer is too small for it.
    ///
    /// - Parameter bytesMax: the length of the buffer; 0 asks for the length of the array alone.
    init(list json: String, bytesMax: UInt32) {
        let bytes = Array(json.utf8)
        guard bytes.count > Int(bytesMax) else {
            self.init(status: BG_OK, body: .transfers(bytes))
            return
        }
        self.init(
            status: bytesMax == 0 ? BG_OK : BG_E_SMALL,
            body: .needs(UInt64(bytes.count))
        )
    }
}
