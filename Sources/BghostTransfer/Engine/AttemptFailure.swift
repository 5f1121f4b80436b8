// SPDX-License-Identifier: Apache-2.0

internal import BghostTransferRules

/// Why an attempt failed, with the server's response if there is one.
struct AttemptFailure: NotOfTheNetwork {
    var fault: TransferFault
    var answer: TransferAnswer?
    /// How long the server asks the client to wait, nanoseconds.
    var retryAfter: UInt64?

    init(_ fault: TransferFault, answer: TransferAnswer? = nil, retryAfter: UInt64? = nil) {
        self.fault = fault
        self.answer = answer
        self.retryAfter = retryAfter
    }

    /// Converts any error that ends an attempt.
    init(reading error: any Error) {
        switch error {
        case let failure as AttemptFailure: self = failure
        case let fault as TransferFault: self.init(fault)
        case let failure as FetchFailure: self.init(TransferFault(failure))
        case let error as UntrustedServer:
            self.init(TransferFault(.untrusted, error.failure.description))
        case is CancellationError: self.init(TransferFault(.shutDown, "it was interrupted"))
        default: self.init(TransferFault(.connection, Printable.text("\(error)", limit: 300)))
        }
    }
}

extension TransferFault {
    /// Converts a network failure to the fault of a transfer.
    init(_ failure: FetchFailure) {
        let code: Code =
            switch failure {
            case .badURL, .badMethod, .badHeader: .badRequest
            case .badFile: .file
            case .fileChanged: .fileChanged
            case .permissionDenied, .localAddress: .forbidden
            case .unresolved: .unresolved
            // Retryable: the operator may fix the proxy, and then nothing is lost.
            case .connection, .badProxy: .connection
            case .badRedirect, .tooManyRedirects: .badRedirect
            case .tooLarge, .headersTooLarge, .noRoom: .tooLarge
            case .tooManyDigests: .limit
            case .timedOut: .idle
            case .cancelled, .shutDown: .shutDown
            }
        self.init(code, failure.description)
    }
}
