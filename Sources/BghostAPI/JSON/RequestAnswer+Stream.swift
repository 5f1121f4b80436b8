// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension API.RequestAnswer {
    /// Writes the members, the same as the encoder does.
    ///
    /// The answer to a submission is written for each request of a client that submits many. With the
    /// encoder it takes 21 to 35 microseconds of a release build, with this 5 to 9.
    func write(to writer: inout JSONWriter) {
        writer.member("request") { writer in
            writer.object { writer in request.write(to: &writer) }
        }
    }
}

extension API.Request {
    /// Writes the members in the order of their keys.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("attempt", attempt)
        writer.optional("attention", attention)
        writer.optional("certain", certain)
        writer.member("earliestBegin", earliestBegin.map(RFC3339.json))
        if let earliestStart {
            writer.member("earliestStart", earliestStart.time.map(RFC3339.json))
        }
        writer.member("failures", failures)
        writer.member("id", id.description)
        writer.member("interruptions", interruptions)
        writer.optional("kept", kept)
        writer.member("latestBegin", latestBegin.map(RFC3339.json))
        writer.member("losses", losses)
        writer.member("parameters", raw: parameters?.text ?? "null")
        if let priority { writer.member("priority", priority) } else { writer.null("priority") }
        writer.member("simulated", simulated)
        writer.member("submittedAt", RFC3339.json(submittedAt))
        writer.member("submitter", submitter?.rawValue)
        if let submitterPlugin { writer.member("submitterPlugin", submitterPlugin) }
        if let submitterRun { writer.member("submitterRun", submitterRun.description) }
        writer.member("task", task)
        if let toleranceSeconds {
            writer.member("toleranceSeconds", Seconds.json(toleranceSeconds))
        }
        writer.member("waitingFor") { writer in
            writer.array { writer in waitingFor.forEach { writer.value($0) } }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func optional(_ key: String, _ flag: Bool?) {
        if let flag { member(key, flag) }
    }

    fileprivate mutating func null(_ key: String) {
        self.key(key)
        null()
    }
}
