// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The place of a page in a list.
struct PageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only what follows the page that names this cursor.",
            valueName: "cursor"
        )
    )
    var cursor: String?
}
