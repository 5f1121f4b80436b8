// SPDX-License-Identifier: Apache-2.0

/// Finds invalid UTF-8 in a text.
enum UTF8Validation {
    /// An invalid range.
    struct Fault: Equatable {
        var range: Range<Int>
        /// Whether the text ends inside a character that is valid so far.
        var isCutOff: Bool
    }

    /// The first invalid range; `nil` if the text is valid: no overlong form, no surrogate, nothing beyond
    /// U+10FFFF.
    static func firstFault(in bytes: [UInt8]) -> Fault? {
        var index = 0
        while index < bytes.count {
            let lead = bytes[index]
            guard lead >= 0x80 else {
                index += 1
                continue
            }
            guard let second = secondByteRange(lead) else {
                return Fault(range: index..<index + 1, isCutOff: false)
            }
            let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
            for position in 1..<length {
                let allowed = position == 1 ? second : 0x80...0xBF
                guard index + position < bytes.count else {
                    return Fault(range: index..<bytes.count, isCutOff: true)
                }
                guard allowed.contains(bytes[index + position]) else {
                    return Fault(range: index..<index + position, isCutOff: false)
                }
            }
            index += length
        }
        return nil
    }

    /// The valid second bytes after a lead byte; `nil` if the byte cannot lead.
    private static func secondByteRange(_ lead: UInt8) -> ClosedRange<UInt8>? {
        switch lead {
        case 0xC2...0xDF, 0xE1...0xEC, 0xEE...0xEF, 0xF1...0xF3: 0x80...0xBF
        case 0xE0: 0xA0...0xBF
        case 0xED: 0x80...0x9F
        case 0xF0: 0x90...0xBF
        case 0xF4: 0x80...0x8F
        default: nil
        }
    }
}
