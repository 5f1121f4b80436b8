// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostServices
internal import BghostStore
internal import BghostTransferRules

extension CommandFailure {
    /// Starts a host by the closure, whose errors become those of a command.
    package nonisolated(nonsending) static func starting<Host: Sendable>(
        _ start: () async throws -> Host
    ) async throws -> Host {
        do {
            return try await start()
        } catch let error as HostError {
            throw CommandFailure(.taken, error.description)
        } catch let error as StoreError {
            throw CommandFailure(.taken, error.description)
        } catch let error as TransferJournalError {
            throw CommandFailure(.taken, error.description)
        } catch let error as SystemError {
            throw CommandFailure(.internalError, "bghost cannot start: \(error.description)")
        }
    }
}
