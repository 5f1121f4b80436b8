// SPDX-License-Identifier: Apache-2.0

extension Int64 {
    /// Parses digits only: other programs may interpret a sign or a space differently.
    package init?(digits text: some StringProtocol) {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard !text.isEmpty, text.utf8.allSatisfy({ digits.contains($0) }) else { return nil }
        self.init(text)
    }
}
