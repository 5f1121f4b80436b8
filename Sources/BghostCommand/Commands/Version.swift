// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import ArgumentParser

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the version of this program.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        guard output.json else { return output.console.answer("bghost \(BghostVersion.text)\n") }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", Schema.version)
            writer.member("version", BghostVersion.text)
        }
        output.console.answer(json: writer.text)
    }
}
