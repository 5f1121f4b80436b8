// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostControl

struct Metrics: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print the daemon's metrics for Prometheus.",
        discussion: """
            Prints the text format of Prometheus, for instance for the textfile collector of \
            node_exporter. The control socket serves the same at /metrics, and OpenMetrics to a client \
            that accepts it. docs/OPERATION.md lists the metrics.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let text = try await client.metrics()
            guard !output.json else {
                return console.answer(json: APICoder.text(Schema.metrics, .init(text: text)))
            }
            console.answer(text)
        }
    }
}
