// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostDispatch
import BghostModel
import BghostOwnerSupport
import Testing

/// What clients learn of the definition of a task.
@Suite(.timeLimit(.minutes(5))) struct DefinitionTextsTests {
    private static let written = WrittenDefinitions([
        WrittenDefinition(.plugin, "job.own", [("library", "x.so")], place: "tasks.json:2"),
        WrittenDefinition(.task, "job.*", [("every", "30s")], place: "tasks.json:7"),
        WrittenDefinition(
            .task,
            "job.own",
            [("limits.runtime", "5s"), ("parameters.key", "${env:KEY}")],
            place: "tasks.d/own.json:1"
        ),
    ])

    @Test func `A member has the definition of its family, unless it has its own`() async throws {
        try await ReactorActor.run { actor in
            var manifest = try CommandBench.manifest(["job.*", "job.own", "bare"])
            manifest.written = Self.written
            let bench = CommandBench(actor.reactor, manifest)
            let tasks = ["job.*", "job.1", "job.own", "bare", "gone"]
            let texts = DefinitionTexts(manifest, of: tasks, bench.dispatcher)
            let family = TaskDefinitionText(
                place: "tasks.json:7",
                settings: [.init(key: "every", value: "30s")]
            )
            #expect(texts["job.*"] == family && texts["job.1"] == family)
            #expect(texts["job.own"]?.place == "tasks.d/own.json:1")
            #expect(
                texts["job.own"]?.settings.map { "\($0.key)=\($0.value)" } == [
                    "limits.runtime=5s", "parameters.key=${env:KEY}",
                ]
            )
            // A manifest that was made without files has no texts.
            #expect(texts["bare"] == nil && texts["gone"] == nil && texts["job.2"] == nil)
        }
    }
}
