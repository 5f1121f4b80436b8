// SPDX-License-Identifier: Apache-2.0

import BghostBase

extension FuzzTarget {
    /// What a plugin prints, in reads of a length that the first byte says.
    static let lines = FuzzTarget("lines", bytesMax: 16 << 10) { bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        let readBytes = 1 + Int(cursor.byte())
        let output = cursor.remaining
        let bytesMax = 40
        let all = split(output, bytesMax: bytesMax, readBytes: max(1, output.count))
        try require(
            split(output, bytesMax: bytesMax, readBytes: readBytes) == all,
            "reads of \(readBytes) bytes make other lines than one read"
        )
        // The slow way: each line by itself.
        var lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        let meant = lines.flatMap { line in
            stride(from: 0, to: max(1, line.count), by: bytesMax).map { start in
                String(decoding: line.dropFirst(start).prefix(bytesMax), as: UTF8.self)
            }
        }
        try require(all == meant, "\(all) are the lines of \(meant)")
    }

    private static func split(_ output: [UInt8], bytesMax: Int, readBytes: Int) -> [String] {
        var splitter = LineSplitter(bytesMax: bytesMax)
        var lines: [String] = []
        for start in stride(from: 0, to: output.count, by: readBytes) {
            output[start..<min(output.count, start + readBytes)].withUnsafeBytes { read in
                splitter.feed(read) { lines.append($0) }
            }
        }
        splitter.finish { lines.append($0) }
        return lines
    }
}
