// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lines that a closure leaves behind.
final class LineBox: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    var all: [String] { lines.withLock { $0 } }
}
