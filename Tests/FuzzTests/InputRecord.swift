// SPDX-License-Identifier: Apache-2.0

import BghostFuzz
import BghostTestSupport
import Glibc

/// The input that is being read, in a file that outlives a trap: `fuzz-input-TARGET` beside the
/// tests.
struct InputRecord: ~Copyable {
    let path: String
    private let file: Int32

    init(_ target: FuzzTarget) throws {
        path = Artifact.directory + "/fuzz-input-" + target.name
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw SystemCallError(call: "open \(path)", code: errno) }
    }

    func keep(_ bytes: [UInt8]) {
        pwrite(file, bytes, bytes.count, 0)
        ftruncate(file, off_t(bytes.count))
    }

    /// Without a fault there is nothing to look at.
    func discard() { unlink(path) }

    deinit { close(file) }
}
