// SPDX-License-Identifier: Apache-2.0

package import BghostManifest
package import BghostModel

/// The manifest as it is on the disk now.
package struct RereadManifest: Sendable {
    /// The manifest; `nil` if a diagnostic is an error.
    package var manifest: Manifest?
    package var diagnostics: [Diagnostic]
    /// The SHA-256 of the files as they were read, also of a wrong manifest; "" if one cannot be read.
    package var digest: String
    /// Why the file is not trusted; `nil` if it is.
    package var doubt: String?

    package init(
        manifest: Manifest?,
        diagnostics: [Diagnostic],
        digest: String = "",
        doubt: String? = nil
    ) {
        self.manifest = manifest
        self.diagnostics = diagnostics
        self.digest = digest
        self.doubt = doubt
    }
}

extension [Diagnostic] {
    /// The errors and their locations, a line each.
    package var errorLines: [String] { filter { $0.severity == .error }.map(\.line) }
}

extension Diagnostic {
    /// The diagnostic and its location in one line.
    fileprivate var line: String {
        let place =
            location.line > 0
            ? "\(location.file):\(location.line):\(location.column)" : location.file
        return "\(place): \(message) [\(code.rawValue)]" + (label.map { "; \($0)" } ?? "")
            + (help.map { "; \($0)" } ?? "")
    }
}
