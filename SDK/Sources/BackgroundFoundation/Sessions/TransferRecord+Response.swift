// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials

extension TransferRecord {
    /// The HTTP response; `nil` if there was none.
    var response: HTTPURLResponse? {
        guard let status, status > 0, let url = URL(string: url) else { return nil }
        return .answer(url, status, (headers ?? []).map { ($0.name, $0.value) })
    }

    /// Why the transfer failed; `nil` if it succeeded.
    var error: URLError? {
        let url = URL(string: url)
        switch state {
        case "done": return nil
        case "cancelled": return URLError(.cancelled, url, "the transfer was cancelled")
        default:
            let code = isRefusal ? .badServerResponse : Self.code(of: fault)
            return URLError(code, url, fault?.message ?? "the transfer failed")
        }
    }

    /// Apple's code for the host's fault.
    private static func code(of fault: Fault?) -> URLError.Code {
        switch fault?.code {
        case "idle", "expired": .timedOut
        case "unresolved": .cannotFindHost
        case "connection": .cannotConnectToHost
        case "untrusted": .secureConnectionFailed
        case "forbidden": .appTransportSecurityRequiresSecureConnection
        case "badRequest", "badRedirect": .badURL
        case "tooLarge": .dataLengthExceedsMaximum
        case "noSpace": .cannotWriteToFile
        case "file", "fileChanged": .noPermissionsToReadFile
        case "status", "contradiction", "digest", "encoding": .badServerResponse
        default: .networkConnectionLost
        }
    }
}
