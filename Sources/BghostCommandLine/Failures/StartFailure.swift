// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostServices
internal import BghostStore
internal import BghostTransferRules

extension CommandFailure {
    /// The failure of a command whose host threw this when it started; other errors stay as they are.
    package static func ofStart(_ error: any Error) -> any Error {
        switch error {
        case let error as HostError: CommandFailure(.taken, error.description)
        case let error as StoreError: CommandFailure(.taken, error.description)
        case let error as TransferJournalError: CommandFailure(.taken, error.description)
        case let error as SystemError:
            CommandFailure(.internalError, "bghost cannot start: \(error.description)")
        default: error
        }
    }
}
