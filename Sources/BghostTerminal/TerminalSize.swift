// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The size of a terminal, characters.
package struct TerminalSize: Equatable, Sendable {
    package var columns: Int
    package var rows: Int

    /// - Returns: `nil` if the descriptor is no terminal, or if it does not know its size.
    package static func of(_ descriptor: Int32) -> TerminalSize? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0,
            size.ws_col > 0, size.ws_row > 0
        else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
