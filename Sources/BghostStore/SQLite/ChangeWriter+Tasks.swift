// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension ChangeWriter {
    /// Stores the state of an identifier; an empty one has no row.
    func remember(_ memory: TaskMemory) throws(SQLiteFailure) {
        if memory.isEmpty {
            try statements.forget.run { $0.add(memory.identifier) }
        } else {
            try statements.remember.run { TaskColumns.bind(memory, to: &$0) }
        }
        countChange()
    }

    /// A pending request waits for another date.
    func move(_ request: Request) throws(SQLiteFailure) {
        guard try removePending(request.id) else { return }
        try insert(request, nil)
        countChange()
    }
}
