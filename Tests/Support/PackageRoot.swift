// SPDX-License-Identifier: Apache-2.0

/// The folder that holds `Package.swift`, for tests that read sources, samples and fixtures.
package enum PackageRoot {
    /// Absolute, without a trailing slash.
    package static let path: String = {
        // This file lies in <root>/Tests/Support.
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()
}
