// SPDX-License-Identifier: Apache-2.0

import BghostFunctions

/// The size and alignment of a C type, by the rules of the System V ABI.
struct ForeignLayout: Equatable {
    var size: Int
    var alignment: Int
    /// The offsets of the members of a struct.
    var offsets: [Int] = []

    init(_ type: ForeignType) {
        switch type {
        case .scalar(let scalar):
            self.init(size: scalar.byteCount, alignment: scalar.byteCount)
        case .pointer, .string:
            self.init(
                size: MemoryLayout<UnsafeRawPointer>.size,
                alignment: MemoryLayout<UnsafeRawPointer>.alignment
            )
        case .structure(let fields):
            self.init(size: 0, alignment: 1)
            for field in fields {
                let layout = ForeignLayout(field.type)
                let offset = Self.round(size, to: layout.alignment)
                offsets.append(offset)
                size = offset + layout.size
                alignment = max(alignment, layout.alignment)
            }
            size = Self.round(size, to: alignment)
        }
    }

    private init(size: Int, alignment: Int) {
        self.size = size
        self.alignment = alignment
    }

    static func round(_ size: Int, to alignment: Int) -> Int {
        (size + alignment - 1) & ~(alignment - 1)
    }
}
