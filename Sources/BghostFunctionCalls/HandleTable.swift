// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The pointers that C functions of this process have returned, with names that JSON can carry.
///
/// A name is random, so it is invalid in another process and cannot be guessed: no parameter can
/// pass an arbitrary address to a C function.
enum HandleTable {
    /// The most pointers that are kept; the oldest is dropped first.
    static let countMax = 1024

    private struct Table {
        var names: [UInt: String] = [:]
        var addresses: [String: UInt] = [:]
        var order: [UInt] = []
    }

    private static let table = Mutex(Table())

    /// The name of a pointer; the same name each time as long as the pointer is kept.
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

    /// The pointer with a name; `nil` if this process has not issued the name or has dropped it.
    static func pointer(named name: String) -> UnsafeMutableRawPointer? {
        table.withLock { $0.addresses[name] }.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }
}
