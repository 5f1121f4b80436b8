// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An HTTP request for a `URLSession`.
public struct URLRequest: Hashable, Sendable {
    /// The policy of a cache.
    ///
    /// It has no effect: there is no cache.
    public enum CachePolicy: Hashable, Sendable {
        case useProtocolCachePolicy, reloadIgnoringLocalCacheData, returnCacheDataElseLoad
    }

    /// The URL, with the scheme `http` or `https`.
    public var url: URL?
    /// The method; `nil` means GET.
    public var httpMethod: String? = "GET"
    /// The body.
    public var httpBody: Data?
    /// The timeout without data, seconds; 60 means the value of the session's configuration.
    public var timeoutInterval: TimeInterval
    /// No effect.
    public var cachePolicy: CachePolicy
    /// As in the configuration.
    public var allowsCellularAccess = true
    /// As in the configuration.
    public var allowsExpensiveNetworkAccess = true
    /// As in the configuration.
    public var allowsConstrainedNetworkAccess = true
    private var fields: [String: String] = [:]

    /// Creates a request.
    public init(
        url: URL,
        cachePolicy: CachePolicy = .useProtocolCachePolicy,
        timeoutInterval: TimeInterval = 60
    ) {
        self.url = url
        self.cachePolicy = cachePolicy
        self.timeoutInterval = timeoutInterval
    }

    /// The header fields, with the names as they were set.
    public var allHTTPHeaderFields: [String: String]? {
        get { fields }
        set { fields = newValue ?? [:] }
    }

    /// The value of a header field, whose name may be in any case.
    public func value(forHTTPHeaderField field: String) -> String? {
        fields[name(of: field)]
    }

    /// Sets a header field; `nil` removes it.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        fields[name(of: field)] = value
    }

    /// Adds a value to a header field, after a comma.
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
