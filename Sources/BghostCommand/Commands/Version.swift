// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import ArgumentParser

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Show the version of this program."
    )

    @OptionGroup var output: OutputOptions

    func run() throws {
        guard output.json else { return output.console.answer("bghost \(BghostVersion.text)\n") }
        let version = API.Version(version: BghostVersion.text)
        output.console.answer(json: APICoder.text(Schema.version, version))
    }
}
