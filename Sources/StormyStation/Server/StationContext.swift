// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
package import Hummingbird
import NIOCore

/// The context of a request with its connection, so that the station can close it.
package struct StationContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    private let connection: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        connection = source.channel
    }

    /// Closes the connection without a response.
    ///
    /// - Returns: the error to throw.
    func cut() async -> Cut {
        // The connection is closed to break it, and may be broken already.
        try? await connection.close()
        return Cut()
    }

    /// The error after a connection was closed on purpose.
    struct Cut: Error {}
}

extension Response {
    /// The response of a busy server.
    static var busy: Response {
        Response(status: .serviceUnavailable, headers: [.retryAfter: "1", .contentLength: "0"])
    }

    /// A redirect, which leads to the same address.
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
