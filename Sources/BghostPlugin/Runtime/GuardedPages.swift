// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Glibc

/// Which accesses to a run's data are made to fault.
package enum RunGuard: Equatable, Sendable {
    case none
    /// Writes.
    case writers
    /// Reads after the run has been released.
    case lateReaders
}

/// Memory pages for the data of one run at a time; a forbidden access faults at once.
struct GuardedPages: @unchecked Sendable {
    // @unchecked: the pointers never change; the slot determines which thread may use the memory.

    /// Enough for the texts of a run with the largest parameters, and its table.
    private static let count = 160 << 10
    private static let headBytes = 256

    private let base: UnsafeMutableRawPointer
    private let runGuard: RunGuard

    /// Maps the pages; `nil` if there is no memory.
    init?(_ runGuard: RunGuard) {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let base = mmap(nil, Self.count, PROT_READ | PROT_WRITE, flags, -1, 0),
            base != MAP_FAILED
        else { return nil }
        self.base = base
        self.runGuard = runGuard
    }

    var info: UnsafeMutablePointer<bg_run_info> { base.assumingMemoryBound(to: bg_run_info.self) }

    var texts: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            start: base + Self.headBytes,
            count: Self.count - Self.headBytes
        )
    }

    func open() { protect(PROT_READ | PROT_WRITE) }
    func show() { if runGuard == .writers { protect(PROT_READ) } }
    func close() { if runGuard == .lateReaders { protect(PROT_NONE) } }

    private func protect(_ access: Int32) { mprotect(base, Self.count, access) }
}
