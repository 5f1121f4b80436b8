// SPDX-License-Identifier: Apache-2.0

package import BghostFleetRules
internal import Synchronization

/// The fleet's store of partitions, for the thread that calls it.
///
/// A call waits for the one before it. Any thread may use it; the daemon calls it on one.
package final class SharedPartitions: Sendable {
    private let store: Mutex<any PartitionStore>

    package init(_ store: sending any PartitionStore) { self.store = Mutex(store) }

    /// Calls the store; it may block for as long as the store says.
    package func call<Answer: Sendable>(
        _ call: (inout any PartitionStore) throws(FleetRefusal) -> Answer
    ) -> Result<Answer, FleetRefusal> {
        store.withLock { store in
            do throws(FleetRefusal) {
                return .success(try call(&store))
            } catch {
                return .failure(error)
            }
        }
    }
}
