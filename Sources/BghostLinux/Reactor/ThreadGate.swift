// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A door that is opened once and stays open. For threads, which may block; never wait for it in an
/// async function.
final class ThreadGate: @unchecked Sendable {
    // @unchecked: guarded by the semaphore, which lives as long as the gate.
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() {
        sem_post(semaphore)
    }

    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }
}
