// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
package import ArgumentParser

package struct SDK: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sdk",
        abstract: "Print the folder of the SDK.",
        discussion: """
            It is a Swift package without dependencies, and has the header of the C ABI. Builds of \
            plugins name it:

              export BGHOST_SDK="$(bghost sdk)"
              cc -shared -fPIC -I"$(bghost sdk --include)" -o libHello.so hello.c
            """
    )

    package init() {}

    @Flag(help: "Print the folder of bghost.h instead.")
    var include = false

    @OptionGroup var output: OutputOptions

    package func run() throws {
        let sdk = try InstalledFiles.sdk()
        let headers = sdk + "/" + InstalledFiles.headers
        guard output.json else {
            return output.console.answer((include ? headers : sdk) + "\n")
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.sdk/1")
            writer.member("include", headers)
            writer.member("sdk", sdk)
        }
        output.console.answer(json: writer.text)
    }
}
