// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// A thread of the worker that never ends.
enum WorkerThread {
    private final class Body {
        let run: () -> Never
        init(_ run: @escaping () -> Never) { self.run = run }
    }

    /// Starts a thread.
    ///
    /// - Returns: `false` if no thread can be created.
    static func begin(_ run: sending @escaping () -> Never) -> Bool {
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let error = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                bgs_use_signal_stack()
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
            },
            body.toOpaque()
        )
        if error != 0 { body.release() }
        return error == 0
    }
}
