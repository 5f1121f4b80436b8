// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The processor time that this process has used, nanoseconds.
///
/// Other programs that keep the processors busy do not change it, as they change the duration of a run.
func usedProcessorTime() -> UInt64 {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
    let micros = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
    return UInt64(seconds) * 1_000_000_000 + UInt64(micros) * 1000
}
