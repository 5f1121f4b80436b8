// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs a closure that blocks on a thread of its own.
///
/// On the cooperative pool it could take the last thread, which the server of the same test needs.
func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let work = Work { continuation.resume(with: Result { try body() }) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            },
            Unmanaged.passRetained(work).toOpaque()
        )
        precondition(code == 0, "no thread could be made")
        pthread_detach(thread)
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
