// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import BghostSchemas
internal import CBghost

/// The table that the plugin returns.
enum TableChecks {
    static let all = [
        Check("table", "its table is complete and right", level: 1, .plugin, needs: ["load"]) {
            (stage) throws(Finding) in
            let descriptor = try descriptor(stage).it
            stage.report(
                CheckedPlugin(
                    id: descriptor.id,
                    version: descriptor.version,
                    handlers: descriptor.handlers.map {
                        CheckedPlugin.Handler(
                            name: $0.name,
                            isSerial: $0.flags.contains(.serial)
                        )
                    }
                )
            )
        },
        Check(
            "entry-again",
            "its entry answers the same table each time",
            level: 2,
            .plugin,
            needs: ["table"]
        ) { (stage) throws(Finding) in
            let subject = Subject(stage, Subject.Behavior())
            let mapped = try stage.map()
            stage.phase("bghost_plugin_v1()")
            let first = mapped.entry(subject.table)
            let second = mapped.entry(subject.table)
            let other = mapped.entry(Subject(stage, Subject.Behavior()).table)
            guard first == second, first == other else {
                throw Finding.failed(
                    "bghost_plugin_v1() answers another table when it is called again",
                    fix: "make the table static, and return its address each time"
                )
            }
        },
        Check(
            "schema",
            "the schemas of its parameters can be checked",
            level: 3,
            .plugin,
            needs: ["table"]
        ) { (stage) throws(Finding) in
            try checkSchemas(try descriptor(stage).it, stage)
        },
    ]

    private static func checkSchemas(
        _ plugin: PluginDescriptor,
        _ stage: Stage
    ) throws(Finding) {
        let declared = plugin.handlers.filter { !$0.parametersSchema.isEmpty }
        for handler in declared {
            do throws(SchemaError) {
                _ = try ParameterSchema(handler.parametersSchema)
            } catch {
                throw Finding.failed(
                    "the schema of handler \"\(handler.name)\" cannot be used: \(error)",
                    fix: "docs/HANDLERS.md lists the keywords that params_schema may have"
                )
            }
        }
        guard let first = declared.first else {
            throw Finding.skipped(
                "no handler has a schema, so wrong parameters are found only in the run"
            )
        }
        guard try stage.image().note?.checksParameters == true else {
            throw Finding.warned(
                "handler \"\(first.name)\" has a schema, but no host checks parameters against it",
                fix: "write params=checked into the note"
            )
        }
    }

    /// The checked table, and the subject that supplied the host table.
    static func descriptor(_ stage: Stage) throws(Finding) -> (
        it: PluginDescriptor, subject: Subject
    ) {
        let subject = Subject(stage, Subject.Behavior())
        let mapped = try stage.map()
        stage.phase("bghost_plugin_v1()")
        do throws(PluginRefusal) {
            return (try mapped.descriptor(for: subject.table), subject)
        } catch {
            throw Finding.failed(stage.without(error.message))
        }
    }
}
