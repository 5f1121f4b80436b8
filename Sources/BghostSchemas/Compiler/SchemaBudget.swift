// SPDX-License-Identifier: Apache-2.0

/// What the compiled schemas of one plugin may hold in memory together.
///
/// It is some 30 MiB at most: a short text can stand for much, such as `(a|b){470}` or `{}`, and a plugin
/// has up to 256 handlers.
struct SchemaBudget {
    /// The most schemas, with those inside of others.
    static let rulesMax = 1 << 15
    /// The most states of different patterns, with the ranges of their characters.
    static let statesMax = 1 << 17

    private var rules = 0
    private var states = 0
    /// By the bytes of their texts: as strings, texts with other scalars could be equal.
    private var patterns: [[UInt8]: LinearPattern] = [:]

    /// Counts one schema.
    ///
    /// - Returns: false if there are too many.
    mutating func addRule() -> Bool {
        rules += 1
        return rules <= Self.rulesMax
    }

    /// Compiles a pattern; equal ones share one program.
    mutating func pattern(_ text: String) throws(PatternFault) -> LinearPattern {
        let key = Array(text.utf8)
        if let known = patterns[key] { return known }
        let pattern = try LinearPattern(text)
        states += pattern.size
        guard states <= Self.statesMax else {
            throw PatternFault(
                "the patterns have more than \(Self.statesMax) states together; repeat less"
            )
        }
        patterns[key] = pattern
        return pattern
    }
}
