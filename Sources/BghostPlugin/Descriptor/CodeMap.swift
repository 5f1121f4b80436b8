// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The executable parts of this process's memory at one moment.
struct CodeMap {
    private var ranges: [Range<UInt>] = []

    /// Reads the map; `nil` without `/proc`, where no address can be judged.
    static func current() -> CodeMap? {
        guard let file = fopen("/proc/self/maps", "re") else { return nil }
        defer { fclose(file) }
        var map = CodeMap()
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let line {
            if let range = executableRange(line) { map.ranges.append(range) }
        }
        return map
    }

    func contains(_ address: UInt) -> Bool { ranges.contains { $0.contains(address) } }

    /// Parses `start-end rwxp ...` in hexadecimal; `nil` unless it is executable.
    ///
    /// Parsed by hand for speed, since this delays the first handler of every worker.
    private static func executableRange(_ line: UnsafeMutablePointer<CChar>) -> Range<UInt>? {
        var rest: UnsafeMutablePointer<CChar>? = line
        let start = strtoul(line, &rest, 16)
        guard let dash = rest, dash.pointee == CChar(UInt8(ascii: "-")) else { return nil }
        let end = strtoul(dash + 1, &rest, 16)
        guard let space = rest, strncmp(space, " ", 1) == 0, strnlen(space, 4) == 4,
            space[3] == CChar(UInt8(ascii: "x")), start < end
        else { return nil }
        return start..<end
    }
}
