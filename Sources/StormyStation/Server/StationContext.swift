// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
package import Hummingbird
import NIOCore

/// What the station knows of a request besides what it says: its connection, so as to break it.
package struct StationContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    private let connection: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        connection = source.channel
    }

    /// Breaks the connection: whoever is at its other end gets no answer.
    ///
    /// - Returns: what to throw then.
    func cut() async -> Cut {
        try? await connection.close()
        return Cut()
    }

    /// A connection was broken on request.
    struct Cut: Error {}
}

extension Response {
    /// The answer of one who is busy.
    static var busy: Response {
        Response(status: .serviceUnavailable, headers: [.retryAfter: "1", .contentLength: "0"])
    }

    /// The same is elsewhere: at the same address, as it happens.
    static func elsewhere(_ request: Request) -> Response {
        Response(
            status: .temporaryRedirect,
            headers: [.location: request.uri.string, .contentLength: "0"]
        )
    }
}

extension HTTPField.Name {
    static let tusResumable = named("Tus-Resumable")
    static let uploadLength = named("Upload-Length")
    static let uploadMetadata = named("Upload-Metadata")
    static let uploadOffset = named("Upload-Offset")
}
