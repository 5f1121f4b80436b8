// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The path and query of an API request, percent-encoded.
struct ControlPath: Equatable, Sendable {
    private(set) var text = "/v1"

    /// A path of one part that has no version.
    init(root part: String) { text = "/" + PercentText.encoded(part) }

    init(_ parts: String...) {
        for part in parts { text += "/" + PercentText.encoded(part) }
    }

    /// The same path with one more query parameter; unchanged for `nil`.
    func with(_ key: String, _ value: (some CustomStringConvertible)?) -> ControlPath {
        guard let value else { return self }
        var path = self
        path.text += (text.contains("?") ? "&" : "?") + key + "=" + PercentText.encoded("\(value)")
        return path
    }
}
