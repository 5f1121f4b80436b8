// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An answer to a fetch, whatever its status.
public struct FetchResponse: Sendable {
    /// The status of HTTP, such as 200.
    public var status: Int
    /// Fields of the header, their names in lower case.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Data

    /// Makes an answer, for tests of handlers.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of a name, in whatever case; `nil` if there is none.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }

    /// Whether the status says that the same request may do better later: 408, 429 or 5xx.
    public var isTemporaryFailure: Bool {
        status == 408 || status == 429 || (500...599).contains(status)
    }

    /// How long the server asks to wait, by `Retry-After` in seconds or as a date; `nil` if it does
    /// not say.
    public var retryAfter: Duration? {
        guard let field = header("retry-after") else { return nil }
        if let seconds = Int64(field) { return .seconds(max(0, seconds)) }
        guard let date = Self.date(field) else { return nil }
        let now = TaskContext.current?.now ?? Date()
        return .seconds(max(0, date.timeIntervalSince(now)))
    }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers may send.
    private static func date(_ field: String) -> Date? {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let parts = field.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT",
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        return try? Date.ISO8601FormatStyle().parse(
            "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z"
        )
    }
}
