// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// A gate that is opened once and stays open.
///
/// Only threads that may block wait for it; never wait for it in an async function.
package final class ThreadGate: @unchecked Sendable {
    // @unchecked: guarded by the semaphore, which lives as long as the gate.
    private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func open() {
        sem_post(semaphore)
    }

    /// Waits until it is open.
    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }

    /// Waits until it is open, for at most this many seconds.
    package func wait(seconds: Int) {
        guard bgs_semaphore_wait(semaphore, UInt32(clamping: seconds)) == 0 else { return }
        sem_post(semaphore)
    }
}
