// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
    /// A worker that gets an invalid descriptor in its place would fail later, for a reason that is none.
    @Test func `A process that may open no more files says so`() async {
        await #expect(processExitsWith: .success) {
            let fd = try Descriptor.null()
            #expect(fcntl(fd, F_GETFD) & FD_CLOEXEC != 0)
            close(fd)
            try refuseOpens()
            #expect(throws: SystemError("open", "/dev/null", code: EMFILE)) {
                close(try Descriptor.null())
            }
        }
    }
}
