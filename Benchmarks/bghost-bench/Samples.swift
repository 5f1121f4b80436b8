// SPDX-License-Identifier: Apache-2.0

/// Times of one thing, nanoseconds.
struct Samples {
    private var nanoseconds: [UInt64] = []

    init(reserving count: Int = 0) {
        nanoseconds.reserveCapacity(count)
    }

    mutating func add(_ value: UInt64) { nanoseconds.append(value) }

    /// Prints `p50` and `p99` in microseconds, as the floors do.
    func report(_ prefix: String = "") {
        guard !nanoseconds.isEmpty else { return }
        let sorted = nanoseconds.sorted()
        let p50 = Double(sorted[sorted.count / 2]) / 1e3
        let p99 = Double(sorted[(sorted.count - 1) * 99 / 100]) / 1e3
        print("\(prefix)p50 \(p50.fixed(3))\n\(prefix)p99 \(p99.fixed(3))")
    }
}

extension [Double] {
    /// The middle one; `nil` if there is none.
    var median: Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        let middle = count / 2
        return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

extension Double {
    /// With this many digits behind the point.
    func fixed(_ digits: Int) -> String {
        guard isFinite, magnitude < 1e15 else { return "\(self)" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (magnitude * scale).rounded()
        let whole = UInt64(scaled / scale)
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let fraction = String(UInt64(scaled) - whole * UInt64(scale))
        return sign + "\(whole)." + String(repeating: "0", count: digits - fraction.count)
            + fraction
    }

    /// With about three digits that mean something.
    var readable: String {
        switch magnitude {
        case 1000...: grouped
        case 100...: fixed(0)
        case 10...: fixed(1)
        case 0.1...: fixed(2)
        default: fixed(4)
        }
    }

    private var grouped: String {
        var result = ""
        let digits = fixed(0)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return result
    }
}
