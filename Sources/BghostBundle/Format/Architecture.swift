// SPDX-License-Identifier: Apache-2.0

/// A processor architecture for which a bundle may have a library.
package enum Architecture: String, Sendable, CaseIterable {
    case x86 = "x86_64"
    case arm = "aarch64"
    case riscv = "riscv64"

    /// The architecture of this program.
    package static let host: Architecture = {
        #if arch(x86_64)
            .x86
        #elseif arch(arm64)
            .arm
        #else
            .riscv
        #endif
    }()

    /// `e_machine` of an ELF file.
    private var machine: UInt16 {
        switch self {
        case .x86: 62
        case .arm: 183
        case .riscv: 243
        }
    }

    /// Reads the architecture of a shared library from its first 20 bytes.
    ///
    /// - Returns: `nil` if they do not begin a 64-bit little-endian ELF shared library of a known
    ///   architecture.
    package init?(elf header: [UInt8]) {
        guard header.count >= 20, header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            header[16] == 3, header[17] == 0
        else { return nil }
        let machine = UInt16(header[18]) | UInt16(header[19]) << 8
        guard let found = Self.allCases.first(where: { $0.machine == machine }) else { return nil }
        self = found
    }
}
