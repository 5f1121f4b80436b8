// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The parts of this process's memory that can be executed, at one moment.
struct CodeMap {
    private var ranges: [Range<UInt>] = []

    /// `nil` where `/proc` is not to be had: then nothing can be said of any address.
    static func current() -> CodeMap? {
        guard let file = fopen("/proc/self/maps", "re") else { return nil }
        defer { fclose(file) }
        var map = CodeMap()
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let line {
            if let range = executableRange(String(cString: line)) { map.ranges.append(range) }
        }
        return map
    }

    func contains(_ address: UInt) -> Bool { ranges.contains { $0.contains(address) } }

    /// Reads `start-end rwxp ...`; `nil` unless it is executable.
    private static func executableRange(_ line: String) -> Range<UInt>? {
        let fields = line.split(separator: " ", maxSplits: 2)
        guard fields.count >= 2, fields[1].dropFirst(2).first == "x" else { return nil }
        let ends = fields[0].split(separator: "-")
        guard ends.count == 2, let start = UInt(ends[0], radix: 16),
            let end = UInt(ends[1], radix: 16), start < end
        else { return nil }
        return start..<end
    }
}
