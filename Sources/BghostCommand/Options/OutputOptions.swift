// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostTerminal

/// The options for a command's output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object and nothing else to stdout.")
    var json = false

    @OptionGroup var look: LookOptions

    var console: Console { look.console }
}

/// The options for the appearance of text.
struct LookOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When to colour: auto, always or never.", valueName: "when"))
    var color = ColorChoice.auto

    @Flag(help: "Show times in UTC instead of the zone of this machine.")
    var utc = false

    var console: Console {
        if utc { LocalTime.useUTC() }
        return Console(color)
    }
}

extension ColorChoice: ExpressibleByArgument {}
