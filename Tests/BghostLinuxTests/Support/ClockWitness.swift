// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import Glibc

/// Sees steps of the clock as the kernel tells them, without the code that is tested.
///
/// The clock is one for all processes, and tests in other processes set it.
enum ClockWitness {
    // The importer does not know `sys/timerfd.h`.
    private typealias Create = @convention(c) (Int32, Int32) -> Int32
    private typealias SetTime =
        @convention(c) (
            Int32, Int32, UnsafePointer<itimerspec>, UnsafeMutablePointer<itimerspec>?
        ) -> Int32

    /// Does something; again if the clock was set meanwhile.
    static func look(_ body: () throws -> Void) throws {
        guard let create = dlsym(nil, "timerfd_create"), let set = dlsym(nil, "timerfd_settime")
        else { throw SystemError("timerfd", code: ENOSYS) }
        let timer = unsafeBitCast(create, to: Create.self)(CLOCK_REALTIME, O_CLOEXEC)
        guard timer >= 0 else { throw SystemError("timerfd_create", code: errno) }
        defer { close(timer) }
        while true {
            // Never reached; a step ends it with an error, which can be polled for.
            var time = itimerspec()
            time.it_value.tv_sec = .max
            let (absolute, endsWithStep) = (Int32(1), Int32(2))
            let armed = unsafeBitCast(set, to: SetTime.self)(
                timer,
                absolute | endsWithStep,
                &time,
                nil
            )
            guard armed == 0 else { throw SystemError("timerfd_settime", code: errno) }
            try body()
            var wanted = pollfd(fd: timer, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, 0) == 1 else { return }
        }
    }
}
