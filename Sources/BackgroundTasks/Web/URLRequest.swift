// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A request of HTTP, for a `URLSession`.
public struct URLRequest: Hashable, Sendable {
    /// Of a cache that there is not: every request goes to its server.
    public enum CachePolicy: Hashable, Sendable {
        case useProtocolCachePolicy, reloadIgnoringLocalCacheData, returnCacheDataElseLoad
    }

    /// Where to; `http` or `https`.
    public var url: URL?
    /// The method; `nil` is GET.
    public var httpMethod: String? = "GET"
    /// What to send along.
    public var httpBody: Data?
    /// Seconds, as of the session's configuration if it is 60.
    public var timeoutInterval: TimeInterval
    /// Has no effect.
    public var cachePolicy: CachePolicy
    /// As of the configuration.
    public var allowsCellularAccess = true
    /// As of the configuration.
    public var allowsExpensiveNetworkAccess = true
    /// As of the configuration.
    public var allowsConstrainedNetworkAccess = true
    private var fields: [String: String] = [:]

    /// Makes a request.
    public init(
        url: URL,
        cachePolicy: CachePolicy = .useProtocolCachePolicy,
        timeoutInterval: TimeInterval = 60
    ) {
        self.url = url
        self.cachePolicy = cachePolicy
        self.timeoutInterval = timeoutInterval
    }

    /// The header, by names as they were set.
    public var allHTTPHeaderFields: [String: String]? {
        get { fields }
        set { fields = newValue ?? [:] }
    }

    /// A field of the header, by its name in whatever case.
    public func value(forHTTPHeaderField field: String) -> String? {
        fields[name(of: field)]
    }

    /// Sets a field, or removes it.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        fields[name(of: field)] = value
    }

    /// Adds to a field, behind a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        let name = name(of: field)
        fields[name] = fields[name].map { "\($0),\(value)" } ?? value
    }

    /// The name under which a field is set.
    private func name(of field: String) -> String {
        let lower = field.lowercased()
        return fields.keys.first { $0.lowercased() == lower } ?? field
    }
}
