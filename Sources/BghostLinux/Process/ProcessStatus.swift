// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// What the kernel says of any process.
package struct ProcessStatus: Equatable, Sendable {
    package var parent: Int32
    /// Its effective group, and the further ones that it is in.
    package var groups: [UInt32]
    /// The process that traces it, such as a debugger; 0 if none does.
    package var tracer: Int32 = 0

    /// - Returns: `nil` if there is no such process, or this one may not look at it.
    package init?(pid: Int32) {
        guard pid > 0, let text = readFile("/proc/\(pid)/status", bytesMax: Self.bytesMax) else {
            return nil
        }
        self.init(text)
    }

    /// Reads the text of the kernel's file.
    package init?(_ text: [UInt8]) {
        var parent: Int32?
        groups = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let values = line[(colon + 1)...].split { $0 == UInt8(ascii: " ") || $0 == 9 }
                .compactMap { decimal($0) }
            // The name comes first, may be anything, and has its line breaks escaped.
            switch String(decoding: line[..<colon], as: UTF8.self) {
            case "PPid": parent = values.first.flatMap { Int32(exactly: $0) }
            // Real, effective, saved and that of file access.
            case "Gid": if values.count > 1 { groups.append(UInt32(clamping: values[1])) }
            case "TracerPid": tracer = values.first.flatMap { Int32(exactly: $0) } ?? 0
            case "Groups": groups += values.map { UInt32(clamping: $0) }
            default: continue
            }
        }
        guard let parent else { return nil }
        self.parent = parent
    }

    /// A process may be in 65536 groups.
    private static let bytesMax = 1 << 20
}
