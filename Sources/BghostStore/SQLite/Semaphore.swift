// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A count to wait for, of the C library: waking costs one call, and only if somebody waits.
///
/// `@unchecked`: it is made for several threads, and it never moves.
final class Semaphore: @unchecked Sendable {
    private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }

    func signal() { sem_post(handle) }

    func wait() {
        while sem_wait(handle) != 0 {}
    }
}
