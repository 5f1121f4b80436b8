// SPDX-License-Identifier: Apache-2.0

internal import BghostPolicy

extension ChangeWriter {
    func remember(_ memory: TaskMemory) throws(SQLiteFailure) {
        try statements.remember.run { TaskColumns.bind(memory, to: &$0) }
        countChange()
    }

    /// A pending request waits for another date.
    func move(_ request: Request) throws(SQLiteFailure) {
        guard try removePending(request.id) else { return }
        try insert(request, nil)
        countChange()
    }
}
