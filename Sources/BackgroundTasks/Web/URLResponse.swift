// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// What came back for a request.
public class URLResponse: NSObject, @unchecked Sendable {
    // @unchecked: nothing of it changes.
    /// Where it came from.
    public let url: URL?
    /// The media type, without parameters.
    public let mimeType: String?
    /// Bytes; -1 if unknown.
    public let expectedContentLength: Int64
    /// The charset that the media type names.
    public let textEncodingName: String?

    /// Makes a response.
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

    /// A name for a file of it: the last part of the path.
    public var suggestedFilename: String? {
        url.map { $0.lastPathComponent.isEmpty ? "unknown" : $0.lastPathComponent }
    }
}

/// An answer in HTTP.
public final class HTTPURLResponse: URLResponse, @unchecked Sendable {
    // @unchecked: nothing of it changes.
    /// The status, such as 200.
    public let statusCode: Int
    private let fields: [String: String]

    /// Makes an answer.
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

    /// The header.
    public var allHeaderFields: [AnyHashable: Any] { fields }

    /// A field of the header, by its name in whatever case.
    public func value(forHTTPHeaderField field: String) -> String? {
        let lower = field.lowercased()
        return fields.first { $0.key.lowercased() == lower }?.value
    }

    /// What a status is called.
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
    /// The answer of a host.
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
