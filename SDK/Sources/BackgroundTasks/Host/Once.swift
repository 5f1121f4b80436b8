// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A closure that runs only at the first call.
package final class Once: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    package init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    package func callAsFunction() {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}
