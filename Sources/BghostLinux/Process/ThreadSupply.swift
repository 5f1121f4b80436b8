// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Whether this process may have threads, asked before libraries need them: those of the runtime wait
/// for ever for one without a word, and those of the network end the process.
package enum ThreadSupply {
    /// Starts some threads at once and ends them again.
    ///
    /// - Returns: 0, or the error number of the first that could not be started.
    package static func shortage(of count: Int) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        // They do nothing.
        pthread_attr_setstacksize(&attributes, 64 << 10)
        defer { pthread_attr_destroy(&attributes) }
        let gate = ThreadGate()
        let waits = Unmanaged.passUnretained(gate).toOpaque()
        var threads: [pthread_t] = []
        var error: Int32 = 0
        while threads.count < count, error == 0 {
            var thread = pthread_t()
            error = pthread_create(
                &thread,
                &attributes,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<ThreadGate>.fromOpaque(argument).takeUnretainedValue().wait()
                    return nil
                },
                waits
            )
            if error == 0 { threads.append(thread) }
        }
        gate.open()
        // Until then the gate must live.
        for thread in threads { pthread_join(thread, nil) }
        return error
    }
}
