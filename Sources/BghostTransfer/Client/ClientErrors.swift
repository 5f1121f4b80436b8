// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// Classifies and describes the errors of the HTTP client.
enum ClientErrors {
    /// Whether the error came before the first byte of the request was sent, so that another
    /// address may be tried.
    static func precedesRequest(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError:
            [.connectTimeout, .httpProxyHandshakeTimeout, .invalidProxyResponse].contains(error)
        case let error as IOError:
            [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL].contains(error.errnoCode)
        default: false
        }
    }

    /// - Parameter proxy: the proxy of the connection, which may be the cause of the error.
    static func failure(
        _ error: any Error,
        target: String,
        through proxy: ProxyAddress? = nil
    ) -> FetchFailure {
        switch error {
        case let failure as FetchFailure: failure
        case is CancellationError, HTTPClientError.cancelled as HTTPClientError: .cancelled
        case HTTPClientError.alreadyShutdown as HTTPClientError: .shutDown
        default:
            .connection(
                target: target,
                reason: (proxy.map { "through the proxy \($0.server): " } ?? "") + reason(error)
            )
        }
    }

    /// Whether the server failed to prove its identity.
    static func isUntrusted(_ error: any Error) -> Bool {
        tlsWord(error) == untrusted || isAnother(error)
    }

    /// Whether the certificate is valid, but for another name.
    private static func isAnother(_ error: any Error) -> Bool {
        (error as? NIOSSLExtraError) == .failedToValidateHostname
    }

    private static let untrusted = "CERTIFICATE_VERIFY_FAILED"

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            "connection refused: nothing listens there"
        case let error as IOError:
            String(cString: strerror(error.errnoCode))
        case HTTPClientError.connectTimeout as HTTPClientError:
            "the server did not accept the connection within 10 seconds"
        case HTTPClientError.remoteConnectionClosed as HTTPClientError:
            "the server closed the connection before its answer was complete"
        case HTTPClientError.proxyAuthenticationRequired as HTTPClientError:
            "it wants a user and password, or others: put them into its URL, before an @"
        case HTTPClientError.invalidProxyResponse as HTTPClientError:
            "it makes no tunnel there (CONNECT to the server's address): its rules may not allow "
                + "that, or it does not reach it"
        case HTTPClientError.httpProxyHandshakeTimeout as HTTPClientError:
            "it did not make a tunnel within 10 seconds"
        case is HTTPParserError:
            "the server's answer is not valid HTTP (\(error))"
        default:
            tlsReason(error) ?? Printable.text("\(error)", limit: 300)
        }
    }

    /// Why the TLS connection could not be made.
    private static func tlsReason(_ error: any Error) -> String? {
        if isAnother(error) { return "its certificate is for another name" }
        guard let word = tlsWord(error) else { return nil }
        return switch word {
        case untrusted: "its certificate is not trusted by this machine"
        case "noSuchFilesystemObject":
            "the certificates that SSL_CERT_FILE or SSL_CERT_DIR in the daemon's environment names "
                + "are not there"
        default: "no TLS connection could be made (\(Printable.text(word, limit: 200)))"
        }
    }

    /// The error's word from the TLS library; `nil` if it is not a TLS error.
    ///
    /// The full text of such an error contains paths of the machine that built the library; the
    /// word behind `OPENSSL_internal:` is the same everywhere.
    private static func tlsWord(_ error: any Error) -> String? {
        guard String(reflecting: type(of: error)).hasPrefix("NIOSSL.") else { return nil }
        let parts = "\(error)".split(separator: "OPENSSL_internal:", maxSplits: 1)
        guard let last = parts.last else { return "" }
        return String(parts.count == 2 ? last.prefix { $0.isLetter || $0 == "_" } : last)
    }
}
