// SPDX-License-Identifier: Apache-2.0

import Glibc

extension [UInt8] {
    /// The places at which a text begins, in order.
    ///
    /// The standard library's search takes seconds for a library of some megabytes in a debug build.
    package func places(of text: [UInt8]) -> [Int] {
        guard let first = text.first else { return [] }
        return withUnsafeBytes { bytes in
            var places: [Int] = []
            guard let base = bytes.baseAddress else { return places }
            let end = base + bytes.count - text.count + 1
            var start = base
            while start < end, let found = memchr(start, Int32(first), end - start) {
                let place = UnsafeRawPointer(found)
                if memcmp(place, text, text.count) == 0 { places.append(place - base) }
                start = place + 1
            }
            return places
        }
    }
}
