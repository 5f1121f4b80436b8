// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The configuration of a session, which the session copies.
public final class URLSessionConfiguration: NSObject {
    /// The identifier of a background session; `nil` for a foreground session.
    public let identifier: String?
    /// Whether the host starts a wake of the plugin once all transfers of the session have ended
    /// while no run awaits them.
    public var sessionSendsLaunchEvents: Bool
    /// Whether transfers wait for external power, an unmetered network and an idle machine.
    public var isDiscretionary = false
    /// The timeout without data, seconds; then a request fails, and a transfer is retried.
    public var timeoutIntervalForRequest: TimeInterval = 60
    /// The timeout of a transfer with all its attempts, seconds.
    public var timeoutIntervalForResource: TimeInterval = 7 * 86_400
    /// `false` makes transfers discretionary, which is stricter than on iOS.
    public var allowsCellularAccess = true
    /// `false` makes transfers discretionary, which is stricter than on iOS.
    public var allowsExpensiveNetworkAccess = true
    /// `false` makes transfers discretionary, which is stricter than on iOS.
    public var allowsConstrainedNetworkAccess = true
    /// No effect: transfers always wait for a network, other requests never do.
    public var waitsForConnectivity = false
    /// Header fields of every request; only string names and values are used.
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    /// No effect: `tasks.json` limits the connections.
    public var httpMaximumConnectionsPerHost = 6
    /// No effect: there is no cache.
    public var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// No effect: data belongs to the plugin.
    public var sharedContainerIdentifier: String?
    /// Whether interrupted uploads resume, by tus 1.0.0 or the IETF's draft, with a server that
    /// supports one of them.
    ///
    /// Apple has no such property.
    public var resumesUploads = false

    private init(_ identifier: String?) {
        self.identifier = identifier
        sessionSendsLaunchEvents = identifier != nil
    }

    /// A foreground session, whose requests end with the run.
    public static var `default`: URLSessionConfiguration { URLSessionConfiguration(nil) }

    /// The same as `default`, since no session stores anything.
    public static var ephemeral: URLSessionConfiguration { URLSessionConfiguration(nil) }

    /// A background session, whose transfers outlive the run, the worker and the daemon.
    ///
    /// - Parameter identifier: 1 to 128 characters of `A-Z a-z 0-9 . _ -`; use the same one in the
    ///   wake.
    /// - Returns: the configuration.
    public static func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        URLSessionConfiguration(identifier)
    }

    /// `sessionSendsLaunchEvents` with its name in the notes of WWDC22.
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

/// The values that a session uses from its configuration.
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
