// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// The kernel's status of a process.
package struct ProcessStatus: Equatable, Sendable {
    package var parent: Int32
    /// The effective group and the supplementary groups.
    package var groups: [UInt32]
    /// The process that traces it, such as a debugger; 0 if there is none.
    package var tracer: Int32 = 0

    /// - Returns: `nil` if there is no such process, or this process may not read its status.
    package init?(pid: Int32) {
        guard pid > 0, let text = readFile("/proc/\(pid)/status", bytesMax: Self.bytesMax) else {
            return nil
        }
        self.init(text)
    }

    /// Parses the text of the kernel's file.
    init?(_ text: [UInt8]) {
        var parent: Int32?
        groups = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let values = line[(colon + 1)...].split { $0 == UInt8(ascii: " ") || $0 == 9 }
                .compactMap { decimal($0) }
            // The process name is the first field. It may contain any characters; its line breaks
            // are escaped.
            switch String(decoding: line[..<colon], as: UTF8.self) {
            case "PPid": parent = values.first.flatMap { Int32(exactly: $0) }
            // The fields are the real, effective, saved and file system group.
            case "Gid": if values.count > 1 { groups.append(UInt32(clamping: values[1])) }
            case "TracerPid": tracer = values.first.flatMap { Int32(exactly: $0) } ?? 0
            case "Groups": groups += values.map { UInt32(clamping: $0) }
            default: continue
            }
        }
        guard let parent else { return nil }
        self.parent = parent
    }

    /// Large enough for a process with 65536 groups, the maximum.
    private static let bytesMax = 1 << 20
}
