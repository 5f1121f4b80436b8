// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// How a command answers.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object and nothing else to stdout.")
    var json = false

    @OptionGroup var look: LookOptions

    var console: Console { look.console }
}

/// How text looks.
struct LookOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When to colour: auto, always or never.", valueName: "when"))
    var color = ColorChoice.auto

    var console: Console { Console(color) }
}
