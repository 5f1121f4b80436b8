// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import StormyStation

/// The station for the sample app, and the player that runs both together.
@main
struct StormyStationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stormy-station",
        abstract: "The sample app's counterpart on loopback: weather, photos, notifications.",
        subcommands: [Serve.self, Play.self, DemoCommand.self]
    )
}
