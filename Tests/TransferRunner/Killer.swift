// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Kills this process after a while.
enum Killer {
    /// - Parameter delay: nanoseconds.
    static func start(after delay: UInt64) {
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { context in
                let delay = Int(bitPattern: context)
                var time = timespec()
                time.tv_sec = delay / 1_000_000_000
                time.tv_nsec = delay % 1_000_000_000
                nanosleep(&time, nil)
                kill(getpid(), SIGKILL)
                return nil
            },
            UnsafeMutableRawPointer(bitPattern: UInt(max(1, delay)))
        )
    }
}
