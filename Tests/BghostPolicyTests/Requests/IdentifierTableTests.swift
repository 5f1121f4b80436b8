// SPDX-License-Identifier: Apache-2.0

@testable import BghostPolicy
import BghostTestSupport
import Testing

@Suite struct IdentifierTableTests {
    @Test func `A new identifier reuses the number of a removed one`() {
        var table = IdentifierTable()
        let numbers = ["a", "b", "c"].map { table.enter($0).number }
        #expect(Set(numbers).count == 3)
        table.remove(numbers[1])
        #expect(table.number(of: "b") == nil && table.count == 2)
        let other = table.enter("another")
        #expect(other.number == numbers[1] && other.isNew)
        #expect(table[numbers[1]] == "another" && table.length(numbers[1]) == 7)
        #expect(table.enter("another") == (numbers[1], false))
        #expect(table[numbers[0]] == "a" && table[numbers[2]] == "c")
    }

    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(8))
    func `The table behaves like a dictionary`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = IdentifierTable()
        var numbers: [String: Int] = [:]
        // Few names, so that most are removed and entered again and again.
        let names = (0..<300).map {
            "org.example." + String(repeating: "x", count: $0 % 40) + "\($0)"
        }
        for _ in 0..<30_000 {
            // The table fills and empties in turns.
            let name = names[Int.random(in: 0..<names.count, using: &random)]
            let isAdded = Int.random(in: 0..<5, using: &random) < (numbers.count > 200 ? 1 : 3)
            if isAdded {
                let (number, isNew) = table.enter(name)
                #expect(isNew == (numbers[name] == nil))
                #expect(numbers[name] ?? number == number)
                numbers[name] = number
            } else if let number = numbers.removeValue(forKey: name) {
                table.remove(number)
            }
            #expect(table.count == numbers.count)
        }
        #expect(Set(numbers.values).count == numbers.count)
        for name in names {
            #expect(table.number(of: name) == numbers[name])
            if let number = numbers[name] {
                #expect(table[number] == name && table.has(number, name))
            }
        }
    }

    @Test func `A million identifiers one after another use the memory of one`() {
        var table = IdentifierTable()
        let kept = table.enter("org.example.kept").number
        for index in 0..<1_000_000 {
            let (number, isNew) = table.enter("org.example.member.\(index)")
            #expect(number == 1 && isNew)
            table.remove(number)
        }
        #expect(table[kept] == "org.example.kept" && table.count == 1)
        #expect(table.textBytes < 16 << 10)
        #expect(table.placeCount == 16)
    }

    @Test func `The table shrinks when most identifiers are removed`() {
        var table = IdentifierTable()
        let numbers = (0..<100_000).map { table.enter("org.example.\($0)").number }
        for number in numbers.dropLast(10) { table.remove(number) }
        for index in 99_990..<100_000 {
            #expect(table.number(of: "org.example.\(index)") == index)
        }
        #expect(table.placeCount <= 128)
        // Eight bytes for each number that was in use at once.
        #expect(table.textBytes < 1 << 20)
    }
}
