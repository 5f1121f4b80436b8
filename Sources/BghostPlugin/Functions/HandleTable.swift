// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The pointers that C functions of this process have answered, under names that JSON can carry.
///
/// A name is random, so that it means nothing in another process and cannot be made up: no
/// parameter can aim a C function at an address of its choice.
enum HandleTable {
    /// How many are remembered; the oldest is forgotten first.
    static let countMax = 1024

    private struct Table {
        var names: [UInt: String] = [:]
        var addresses: [String: UInt] = [:]
        var order: [UInt] = []
    }

    private static let table = Mutex(Table())

    /// The name of a pointer, the same as before if it has one.
    static func name(of pointer: UnsafeRawPointer) -> String {
        let address = UInt(bitPattern: pointer)
        return table.withLock { table in
            if let name = table.names[address] { return name }
            if table.order.count == countMax {
                let oldest = table.order.removeFirst()
                if let name = table.names.removeValue(forKey: oldest) {
                    table.addresses[name] = nil
                }
            }
            let name = String(UInt64.random(in: .min ... .max), radix: 16)
            table.names[address] = name
            table.addresses[name] = address
            table.order.append(address)
            return name
        }
    }

    /// The pointer of that name; `nil` if this process has not given it out or has forgotten it.
    static func pointer(named name: String) -> UnsafeMutableRawPointer? {
        table.withLock { $0.addresses[name] }.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }
}
