// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import CBghost
internal import FoundationEssentials

extension URLError {
    /// Creates an error from the host's status.
    init(_ status: bg_status, _ url: URL?, _ what: String) {
        switch status {
        case BG_E_PERM:
            self.init(
                .appTransportSecurityRequiresSecureConnection,
                url,
                "not permitted: in tasks.json, list host and port in the plugin's "
                    + "`permissions.network`, a file's folder in `permissions.read`, and a "
                    + "background session under `sessions`"
            )
        case BG_E_LIMIT: self.init(.dataLengthExceedsMaximum, url, "over a limit of the host's")
        case BG_E_ARG: self.init(.badURL, url, "the host does not understand this \(what)")
        case BG_E_ABSENT: self.init(.notConnectedToInternet, url, "this host has no \(what)s")
        case BG_E_STALE: self.init(.cancelled, url, "the run is over")
        case BG_E_CLOSED:
            self.init(.backgroundSessionWasDisconnected, url, "the plugin is closed")
        case BG_E_CANCELLED: self.init(.cancelled, url, "the run is asked to stop")
        default: self.init(.unknown, url, "the \(what) failed with status \(status)")
        }
    }

    /// Creates an error from a fetch error.
    init(_ error: FetchError, _ url: URL?) {
        let code: Code =
            switch error.code {
            case .failed:
                error.description.contains("within its") ? .timedOut : .networkConnectionLost
            case .notPermitted: .appTransportSecurityRequiresSecureConnection
            case .limitExceeded: .dataLengthExceedsMaximum
            case .invalidRequest: .badURL
            case .unavailable: .notConnectedToInternet
            }
        self.init(code, url, error.description)
    }
}
