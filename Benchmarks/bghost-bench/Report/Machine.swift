// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc

/// What the numbers were measured on, and how quiet it was.
struct Machine {
    let noise: Double
    let noiseAfter: Double

    /// How much longer a fixed piece of work takes at its 99th percentile than at its best.
    ///
    /// Above 2 or so, other programs had the processor too, and tails are theirs.
    static func noise() -> Double {
        var times: [UInt64] = []
        var sum: UInt64 = 0
        for _ in 0..<500 {
            let before = Monotonic.now
            for n in 0..<200_000 as Range<UInt64> { sum = (sum ^ n) &* 0x9E37_79B9_7F4A_7C15 }
            times.append(Monotonic.now.since(before))
        }
        // The sum is used, so that the work is done.
        precondition(sum != 1, "the work was optimised away")
        times.sort()
        return Double(times[times.count * 99 / 100]) / Double(max(1, times[0]))
    }

    var text: String {
        "\(Processor.count) processors, \(model), Linux \(kernel);"
            + " noise \(noise.fixed(2)) before, \(noiseAfter.fixed(2)) after"
    }

    private var model: String {
        let bytes = readFile("/proc/cpuinfo", bytesMax: 8192) ?? []
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("model name") }
        return line.flatMap { $0.split(separator: ":").last }.map { String($0.drop { $0 == " " }) }
            ?? "unknown processor"
    }

    private var kernel: String {
        let bytes = readFile("/proc/sys/kernel/osrelease", bytesMax: 256) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
            ?? "unknown"
    }
}
