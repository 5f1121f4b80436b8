// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// How a session behaves; the session takes a copy.
public final class URLSessionConfiguration: NSObject {
    /// The name of a background session; `nil` for one in the foreground.
    public let identifier: String?
    /// Whether the plugin is woken once all transfers of the session have ended and nobody awaits
    /// them.
    public var sessionSendsLaunchEvents: Bool
    /// Whether transfers wait for external power, an unmetered network and an idle machine.
    public var isDiscretionary = false
    /// Seconds without a byte, after which a request is given up or tried again.
    public var timeoutIntervalForRequest: TimeInterval = 60
    /// Seconds that a transfer may take, with all attempts.
    public var timeoutIntervalForResource: TimeInterval = 7 * 86_400
    /// `false` makes transfers discretionary, which is more than was asked for.
    public var allowsCellularAccess = true
    /// `false` makes transfers discretionary, which is more than was asked for.
    public var allowsExpensiveNetworkAccess = true
    /// `false` makes transfers discretionary, which is more than was asked for.
    public var allowsConstrainedNetworkAccess = true
    /// Has no effect: transfers always wait for a network, other requests never.
    public var waitsForConnectivity = false
    /// Fields of every request; names and values that are text count.
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    /// Has no effect: `tasks.json` caps connections.
    public var httpMaximumConnectionsPerHost = 6
    /// Has no effect: there is no cache.
    public var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Has no effect: data belong to the plugin.
    public var sharedContainerIdentifier: String?
    /// Whether uploads go on where they stood, by tus 1.0.0 or the IETF's draft, with a server that
    /// speaks one of them; new here.
    public var resumesUploads = false

    private init(_ identifier: String?) {
        self.identifier = identifier
        sessionSendsLaunchEvents = identifier != nil
    }

    /// A session in the foreground: its requests end with the run.
    public static var `default`: URLSessionConfiguration { URLSessionConfiguration(nil) }

    /// The same: nothing is kept in any case.
    public static var ephemeral: URLSessionConfiguration { URLSessionConfiguration(nil) }

    /// A session whose transfers outlive the run, the worker and the daemon.
    ///
    /// - Parameter identifier: 1 to 128 of `A-Z a-z 0-9 . _ -`, the same in the wake.
    public static func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        URLSessionConfiguration(identifier)
    }

    /// `sessionSendsLaunchEvents`, as the notes of WWDC22 spell it.
    public var sessionLaunchEvents: Bool {
        get { sessionSendsLaunchEvents }
        set { sessionSendsLaunchEvents = newValue }
    }

    func copy() -> URLSessionConfiguration {
        let copy = URLSessionConfiguration(identifier)
        copy.sessionSendsLaunchEvents = sessionSendsLaunchEvents
        copy.isDiscretionary = isDiscretionary
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.timeoutIntervalForResource = timeoutIntervalForResource
        copy.allowsCellularAccess = allowsCellularAccess
        copy.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
        copy.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
        copy.waitsForConnectivity = waitsForConnectivity
        copy.httpAdditionalHeaders = httpAdditionalHeaders
        copy.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
        copy.requestCachePolicy = requestCachePolicy
        copy.sharedContainerIdentifier = sharedContainerIdentifier
        copy.resumesUploads = resumesUploads
        return copy
    }
}

/// What a session has taken of its configuration.
struct SessionSettings: Sendable {
    let identifier: String?
    let sendsLaunchEvents: Bool
    let isDiscretionary: Bool
    let requestTimeout: TimeInterval
    let resourceTimeout: TimeInterval
    let headers: [(name: String, value: String)]
    let resumesUploads: Bool

    init(_ configuration: URLSessionConfiguration) {
        identifier = configuration.identifier
        sendsLaunchEvents = configuration.sessionSendsLaunchEvents
        isDiscretionary =
            configuration.isDiscretionary || !configuration.allowsCellularAccess
            || !configuration.allowsExpensiveNetworkAccess
            || !configuration.allowsConstrainedNetworkAccess
        requestTimeout = configuration.timeoutIntervalForRequest
        resourceTimeout = configuration.timeoutIntervalForResource
        headers = (configuration.httpAdditionalHeaders ?? [:])
            .compactMap { name, value in
                guard let name = name.base as? String, let value = value as? String else {
                    return nil
                }
                return (name, value)
            }
            .sorted { $0.name < $1.name }
        resumesUploads = configuration.resumesUploads
    }
}
