// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension CheckReport {
    /// The report as one object of the schema `bghost.check/1`.
    ///
    /// - Parameter shows: selects the results to include; the counts cover all of them.
    package func json(showing shows: (CheckResult) -> Bool) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.check/1")
            writer.member("file", file)
            writer.member("plugin") { writer in
                guard let plugin else { return writer.null() }
                writer.object { writer in
                    writer.member("id", plugin.id)
                    writer.member("version", plugin.version)
                    writer.member("handlers") { writer in
                        writer.array { writer in plugin.handlers.forEach { writer.value($0.name) } }
                    }
                }
            }
            writer.member("strictness", strictness)
            // A string: a reader that parses numbers as doubles would get another seed.
            writer.member("seed", String(seed))
            writer.member("passed", hasPassed)
            writer.member("counts") { writer in
                writer.object { writer in
                    for verdict in Verdict.allCases {
                        writer.member(verdict.rawValue, count(verdict))
                    }
                }
            }
            writer.member("checks") { writer in
                writer.array { writer in
                    for result in results where shows(result) { result.write(to: &writer) }
                }
            }
        }
        return writer.text
    }
}

extension CheckResult {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("check", check)
            writer.member("handler", handler)
            writer.member("level", level)
            writer.member("verdict", verdict.rawValue)
            writer.member("message", message.isEmpty ? nil : message)
            writer.member("fix", fix.isEmpty ? nil : fix)
            writer.member("milliseconds", milliseconds)
            writer.member("output", output.isEmpty ? nil : output)
        }
    }
}
