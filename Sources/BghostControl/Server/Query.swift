// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird

/// The query parameters of a request.
///
/// A parameter with an empty value counts as absent.
struct Query {
    private let request: Request

    init(_ request: Request) {
        self.request = request
    }

    /// Refuses keys that the endpoint does not read: a key that is misspelt would be ignored.
    func check(for endpoint: Endpoint) throws(ControlFault) {
        let known = endpoint.queryKeys.map(\.name)
        for (key, _) in request.uri.queryParameters where !known.contains(String(key)) {
            let shown = TerminalText.escaped(String(key.prefix(40)))
            throw ControlFault(
                .badRequest,
                "`\(endpoint.rawValue)` has no query key `\(shown)`",
                fix: known.isEmpty
                    ? "it takes none"
                    : "it takes " + known.map { "`\($0)`" }.joined(separator: ", "),
                candidates: known
            )
        }
    }

    func text(_ key: String) -> String? {
        guard let value = request.uri.queryParameters[Substring(key)], !value.isEmpty else {
            return nil
        }
        return String(value)
    }

    /// The values of a parameter that may occur several times.
    func texts(_ key: String) -> [String] {
        request.uri.queryParameters[values: Substring(key)].filter { !$0.isEmpty }.map(String.init)
    }

    func number(_ key: String, in range: ClosedRange<Int>) throws(ControlFault) -> Int? {
        guard let text = text(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badRequest(
                "`\(key)` must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    func flag(_ key: String) throws(ControlFault) -> Bool {
        switch text(key) {
        case nil, "false": false
        case "true": true
        default: throw .badRequest("`\(key)` must be true or false")
        }
    }
}
