// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Synchronization

/// The bytes of files that were hashed for plugins and have not been sent.
///
/// A digest costs a plugin nothing if the file is then not sent: the server may be away, or the plugin cancels. So a
/// plugin may have only so many such bytes. What is sent is subtracted, and the rest with time.
///
/// Any thread may use it. A plugin without such bytes takes no memory.
final class DigestLedger: Sendable {
    private struct Account {
        var bytes: Int
        var changedAt: MonotonicInstant
    }

    /// The bytes at which no further file is hashed: some eleven seconds of a processor.
    static let unsentBytesMax = 16 << 30
    /// How many bytes time subtracts: a twentieth of what a processor hashes.
    static let bytesPerSecond = 64 << 20

    private let unsentBytesMax: Int
    private let bytesPerSecond: Int
    private let accounts = Mutex<[String: Account]>([:])

    init(
        unsentBytesMax: Int = DigestLedger.unsentBytesMax,
        bytesPerSecond: Int = DigestLedger.bytesPerSecond
    ) {
        self.unsentBytesMax = unsentBytesMax
        self.bytesPerSecond = bytesPerSecond
    }

    /// Adds a file that is about to be hashed.
    ///
    /// - Returns: `false` if the plugin has too many bytes already, also if it has none of this file; then nothing is
    ///   added.
    func add(
        _ bytes: Int,
        for plugin: String,
        now: MonotonicInstant = Monotonic.now
    ) -> Bool {
        accounts.withLock { accounts in
            let before = accounts[plugin].map { left($0, now: now) } ?? 0
            guard before < unsentBytesMax else { return false }
            accounts[plugin] = Account(bytes: before.addingClamped(bytes), changedAt: now)
            return true
        }
    }

    /// Subtracts bytes that were sent.
    func subtract(
        _ bytes: Int,
        for plugin: String,
        now: MonotonicInstant = Monotonic.now
    ) {
        accounts.withLock { accounts in
            guard let account = accounts[plugin] else { return }
            let left = left(account, now: now) - bytes
            accounts[plugin] = left > 0 ? Account(bytes: left, changedAt: now) : nil
        }
    }

    private func left(_ account: Account, now: MonotonicInstant) -> Int {
        let seconds = Double(now.since(account.changedAt)) / 1e9
        return account.bytes - Int(min(seconds * Double(bytesPerSecond), Double(account.bytes)))
    }
}
