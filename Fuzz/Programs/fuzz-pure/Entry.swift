// SPDX-License-Identifier: Apache-2.0

import BghostFuzz

private let entry = FuzzEntry(FuzzTarget.pure)

/// Called by libFuzzer for each input.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    entry.take(start, count)
    return 0
}
