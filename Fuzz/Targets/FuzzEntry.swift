// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What libFuzzer calls: one target of a program, which its environment names.
package struct FuzzEntry: Sendable {
    private let target: FuzzTarget

    /// - Parameter targets: those of the program; the one named by `TARGET` is meant.
    package init(_ targets: [FuzzTarget]) {
        let name = getenv("TARGET").map { String(cString: $0) } ?? ""
        guard let target = targets.first(where: { $0.name == name }) else {
            fatalError("TARGET is one of \(targets.map(\.name).joined(separator: ", "))")
        }
        self.target = target
    }

    /// Reads one input; a property that is broken ends the process, as a trap does.
    package func take(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        let bytes = Array(UnsafeBufferPointer(start: start, count: count))
        guard bytes.count <= target.bytesMax else { return }
        do throws(BrokenProperty) {
            try target.run(bytes)
        } catch {
            fatalError("\(target.name): \(error)")
        }
    }
}
