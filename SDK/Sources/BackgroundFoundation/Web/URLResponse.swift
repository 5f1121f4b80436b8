// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The response to a request.
public class URLResponse: NSObject, @unchecked Sendable {
    // @unchecked: it is immutable.
    /// The URL of the response.
    public let url: URL?
    /// The media type, without parameters.
    public let mimeType: String?
    /// The length of the body, bytes; -1 if unknown.
    public let expectedContentLength: Int64
    /// The charset in the media type.
    public let textEncodingName: String?

    /// Creates a response.
    public init(
        url: URL,
        mimeType: String?,
        expectedContentLength: Int,
        textEncodingName: String?
    ) {
        self.url = url
        self.mimeType = mimeType
        self.expectedContentLength = Int64(expectedContentLength)
        self.textEncodingName = textEncodingName
    }

    /// A name for a file with the body: the last part of the path.
    public var suggestedFilename: String? {
        url.map { $0.lastPathComponent.isEmpty ? "unknown" : $0.lastPathComponent }
    }
}

/// An HTTP response.
public final class HTTPURLResponse: URLResponse, @unchecked Sendable {
    // @unchecked: it is immutable.
    /// The HTTP status, such as 200.
    public let statusCode: Int
    private let fields: [String: String]

    /// Creates a response.
    public init?(
        url: URL,
        statusCode: Int,
        httpVersion: String?,
        headerFields: [String: String]?
    ) {
        self.statusCode = statusCode
        fields = headerFields ?? [:]
        let lower = Dictionary(fields.map { ($0.lowercased(), $1) }) { first, _ in first }
        let type = lower["content-type"]?.split(separator: ";").map { part in
            String(part.drop { $0 == " " })
        }
        let charset = type?.dropFirst().first { $0.lowercased().hasPrefix("charset=") }
        super.init(
            url: url,
            mimeType: type?.first,
            expectedContentLength: lower["content-length"].flatMap(Int.init) ?? -1,
            textEncodingName: charset.map { String($0.dropFirst(8)) }
        )
    }

    /// The header fields.
    public var allHeaderFields: [AnyHashable: Any] { fields }

    /// The value of a header field, whose name may be in any case.
    public func value(forHTTPHeaderField field: String) -> String? {
        let lower = field.lowercased()
        return fields.first { $0.key.lowercased() == lower }?.value
    }

    /// The description of a status.
    public static func localizedString(forStatusCode status: Int) -> String {
        switch status {
        case 100..<200: "informational"
        case 200: "no error"
        case 201..<300: "success"
        case 300..<400: "redirected"
        case 404: "not found"
        case 400..<500: "client error"
        case 500..<600: "server error"
        default: "unknown"
        }
    }
}

extension HTTPURLResponse {
    /// Creates the response from the host's answer.
    static func answer(
        _ url: URL,
        _ status: Int,
        _ headers: [(name: String, value: String)]
    ) -> HTTPURLResponse? {
        HTTPURLResponse(
            url: url,
            statusCode: status,
            httpVersion: "HTTP/1.1",
            headerFields: Dictionary(headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
        )
    }
}
