// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The response to a fetch, whatever its status.
public struct FetchResponse: Sendable {
    /// The HTTP status, such as 200.
    public var status: Int
    /// The header fields; their names are in lower case.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Data

    /// Creates a response, for tests of handlers.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first field with a name, in any case; `nil` if there is none.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }

    /// Whether the same request may succeed later: status 408, 429 or 5xx.
    public var isTemporaryFailure: Bool {
        status == 408 || status == 429 || (500...599).contains(status)
    }

    /// How long the server asks to wait, from `Retry-After` in seconds or as a date; `nil` if there
    /// is no such field.
    public var retryAfter: Duration? {
        guard let field = header("retry-after") else { return nil }
        if let seconds = Int64(field) { return .seconds(max(0, seconds)) }
        guard let date = Self.date(field) else { return nil }
        let now = TaskContext.current?.now ?? Date()
        return .seconds(max(0, date.timeIntervalSince(now)))
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that servers may send.
    private static func date(_ field: String) -> Date? {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let parts = field.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT",
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        // No date: as if the server had sent none.
        return try? Date.ISO8601FormatStyle().parse(
            "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z"
        )
    }
}
