// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
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
            "the schemas of its parameters are JSON",
            level: 3,
            .plugin,
            needs: ["table"]
        ) { (stage) throws(Finding) in
            for handler in try descriptor(stage).it.handlers where !handler.parametersSchema.isEmpty
            {
                let fix = "params_schema is a JSON Schema, an object, or \"\""
                let part = "the schema of handler \"\(handler.name)\""
                let node: JSONNode
                do throws(JSONError) {
                    node = try JSONReader.parse(
                        Array(handler.parametersSchema.utf8),
                        dialect: .strict
                    )
                } catch {
                    throw Finding.failed("\(part) is not JSON: \(error)", fix: fix)
                }
                guard node.object != nil || node.bool != nil else {
                    throw Finding.failed("\(part) is \(node.typeName), not an object", fix: fix)
                }
            }
        },
    ]

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
