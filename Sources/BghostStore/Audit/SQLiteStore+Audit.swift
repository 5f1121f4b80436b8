// SPDX-License-Identifier: Apache-2.0

package import BghostAudit
package import BghostModel

extension SQLiteStore {
    package func audit(_ query: AuditQuery) -> AuditPage {
        answer(AuditPage()) { reader, _ throws(SQLiteFailure) in try reader.audit.page(query) }
    }

    package func auditHead() -> AuditHead? {
        answer(nil) { reader, _ throws(SQLiteFailure) in try reader.audit.head() }
    }

    package func advance(_ check: AuditCheck) -> AuditCheck? {
        answer(nil) { reader, _ throws(SQLiteFailure) in
            var check = check
            try reader.audit.advance(&check)
            return check
        }
    }
}
