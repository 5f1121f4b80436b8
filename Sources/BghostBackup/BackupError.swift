// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostStore
internal import BghostTransferRules

/// Why a backup was not written or not restored.
package struct BackupError: Error, Equatable, Sendable {
    /// What happened and where, one sentence without a full stop; safe for terminals.
    package let message: String
    /// How to resolve it; "" if the message says so.
    package let fix: String

    init(_ message: String, fix: String = "") {
        self.message = PrintableText.escaped(message)
        self.fix = PrintableText.escaped(fix)
    }

    /// Runs a step of one of the parts, whose errors name the file and the remedy.
    static func rethrowing<Value>(_ body: () throws -> Value) throws(BackupError) -> Value {
        do {
            return try body()
        } catch let error as BackupError {
            throw error
        } catch let error as SystemError {
            throw BackupError("cannot \(error.description)")
        } catch let error as StoreError {
            throw BackupError(error.message)
        } catch let error as TransferJournalError {
            throw BackupError(error.description)
        } catch {
            throw BackupError("\(error)")
        }
    }
}
