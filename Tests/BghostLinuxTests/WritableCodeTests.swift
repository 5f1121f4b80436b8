// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostSandbox
import Glibc
import Testing

/// What stands in for the kernel's rule against writable code where it has none, in a real kernel.
///
/// A process of its own, for a filter cannot be taken off again.
@Suite(.timeLimit(.minutes(5))) struct WritableCodeTests {
    @Test(arguments: [false, true])
    func `The filter keeps writable memory from becoming executable`(writesCode: Bool) async {
        await #expect(processExitsWith: .exitCode(7)) { [writesCode] in
            var policy = SystemCallPolicy()
            policy.writesCode = writesCode
            let program = FilterProgram(policy)
            let filter = (bytes: program.bytes, ownProcess: program.ownProcess)
            let order = WorkerSandbox.Order(
                wanted: [.noNewPrivileges, .seccomp],
                user: 0,
                grants: [],
                scratchBytes: 0,
                filter: filter,
                filterAmongFiles: filter,
                owners: -1,
                network: -1,
                parent: getppid()
            )
            let sandbox = WorkerSandbox.enter(order) {}
            let held = sandbox.layerStates.filter { $0.state == .holds }.map(\.layer)
            #expect(held == [.noNewPrivileges, .seccomp])
            let refusal = writesCode ? 0 : EPERM
            #expect(errorOfMapping(PROT_READ | PROT_WRITE | PROT_EXEC) == refusal)
            #expect(errorOfMapping(PROT_READ | PROT_WRITE, becoming: PROT_EXEC) == refusal)
            #expect(errorOfMapping(PROT_READ | PROT_WRITE, becoming: PROT_READ) == 0)
            #expect(errorOfMapping(PROT_READ | PROT_EXEC) == 0)
            // Not 0, with which it would end if it found itself without its parent.
            exit(7)
        }
    }
}

/// Maps a page and changes what may be done with it: 0 or the `errno` that stopped it.
private func errorOfMapping(_ protection: Int32, becoming later: Int32? = nil) -> Int32 {
    let page = mmap(nil, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let page, page != MAP_FAILED else { return errno }
    defer { munmap(page, 4096) }
    guard let later, mprotect(page, 4096, later) != 0 else { return 0 }
    return errno
}
