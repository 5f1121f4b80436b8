// SPDX-License-Identifier: Apache-2.0

internal import BghostPolicy

extension ChangeWriter {
    func remember(_ memory: TaskMemory, _ now: Int64) throws(SQLiteFailure) {
        try statements.remember.run { TaskColumns.bind(memory, to: &$0) }
        try note(
            "remembered",
            now,
            task: memory.identifier,
            detail: "throttle points \(memory.throttle.points)"
        )
    }

    /// A pending request waits for another date.
    func move(_ request: Request, _ now: Int64) throws(SQLiteFailure) {
        guard try removePending(request.id) else { return }
        try insert(request, nil)
        try note("moved", now, request: request.id, task: request.task)
    }
}
