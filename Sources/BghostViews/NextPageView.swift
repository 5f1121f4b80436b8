// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI

/// The line below a page of a list that says how to get the next one; "" without one.
struct NextPageView {
    /// The cursor of the next page, as the daemon says it.
    let next: String?

    var text: String {
        next.map { "there may be more: --cursor \(TerminalText.escaped($0))\n" } ?? ""
    }
}
