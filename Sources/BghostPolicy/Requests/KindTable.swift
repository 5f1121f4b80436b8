// SPDX-License-Identifier: Apache-2.0

extension PendingRequestIndex {
    /// The kinds of all identifiers, each stored once.
    ///
    /// A kind that no identifier has any longer is dropped, and another one gets its number.
    struct KindTable: Sendable {
        private var kinds: [Kind] = []
        /// How many identifiers have each kind.
        private var uses: [UInt32] = []
        private var numbers: [Kind: UInt32] = [:]
        private var unusedNumbers: [UInt32] = []

        /// The number of kinds in use.
        var count: Int { numbers.count }

        var all: some Collection<Kind> { numbers.keys }

        subscript(number: UInt32) -> Kind { kinds[Int(number)] }

        /// Returns the number of the kind of one more identifier.
        mutating func add(_ kind: Kind) -> UInt32 {
            if let known = numbers[kind] {
                uses[Int(known)] += 1
                return known
            }
            let number: UInt32
            if let unused = unusedNumbers.popLast() {
                number = unused
                kinds[Int(number)] = kind
                uses[Int(number)] = 1
            } else {
                number = UInt32(kinds.count)
                kinds.append(kind)
                uses.append(1)
            }
            numbers[kind] = number
            return number
        }

        /// Records that an identifier no longer has a kind.
        mutating func remove(_ number: UInt32) {
            let index = Int(number)
            uses[index] -= 1
            guard uses[index] == 0 else { return }
            numbers[kinds[index]] = nil
            unusedNumbers.append(number)
        }
    }
}
