// SPDX-License-Identifier: Apache-2.0

package import BghostBase

extension JSONWriter {
    /// Writes what has been learned of a task as an object.
    package mutating func value(_ status: UseStatus) {
        object { $0.members(status) }
    }

    /// Writes the members of that object.
    package mutating func members(_ status: UseStatus) {
        member("task", status.task)
        member("days", status.days)
        member("usual") { writer in
            writer.array { writer in
                for usual in status.usual {
                    writer.object { writer in
                        writer.member("from", usual.time)
                        writer.member("days", usual.days)
                    }
                }
            }
        }
    }
}

extension UseStatus {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let task = json["task"]?.string, let days = json["days"]?.int64 else { return nil }
        self.init(
            task: task,
            days: Int(clamping: days),
            usual: json["usual"]?.array?.compactMap { usual in
                guard let days = usual["days"]?.int64,
                    let from = usual["from"]?.string.flatMap({ Usual(time: $0) })
                else { return nil }
                return Usual(minute: from.minute, days: Int(clamping: days))
            } ?? []
        )
    }
}
