// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import BghostTerminal

/// The options for a command's output.
package struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object and nothing else to stdout.")
    package var json = false

    @OptionGroup package var look: LookOptions

    package init() {}

    package var console: Console { look.console }
}

/// The options for the appearance of text.
package struct LookOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When to colour: auto, always or never.", valueName: "when"))
    package var color = ColorChoice.auto

    @Flag(help: "Show times in UTC instead of the zone of this machine.")
    package var utc = false

    package init() {}

    package var console: Console {
        if utc { LocalTime.useUTC() }
        return Console(color)
    }
}

extension ColorChoice: ExpressibleByArgument {}
