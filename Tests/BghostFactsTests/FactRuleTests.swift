// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostTestSupport
import Testing

@Suite struct FactRuleTests {
    @Test func `A network holds once it is stable for two seconds`() {
        var sheet = FactSheet()
        #expect(sheet.take(.network, .state(true), at: 10) == .network)
        #expect(sheet[.network].value == .fails)
        #expect(sheet.nextDeadline == seconds(12))
        #expect(sheet.pass(to: 11.999) == [])
        #expect(sheet.pass(to: 12) == .network)
        #expect(sheet[.network].value == .holds)
        #expect(sheet.nextDeadline == nil)
    }

    @Test func `A network that flickers never holds`() {
        var sheet = FactSheet()
        for moment in stride(from: 0.0, to: 20, by: 1.5) {
            _ = sheet.take(.network, .state(true), at: moment)
            _ = sheet.pass(to: moment + 1.4)
            _ = sheet.take(.network, .state(false), at: moment + 1.4)
            #expect(sheet[.network].value == .fails)
        }
    }

    @Test func `A network fails at once`() {
        var sheet = FactSheet()
        _ = sheet.take(.network, .state(true), at: 0)
        _ = sheet.pass(to: 2)
        #expect(sheet.take(.network, .state(false), at: 3) == .network)
        #expect(sheet[.network].value == .fails)
    }

    @Test func `A machine is idle after a quiet minute`() {
        var sheet = FactSheet()
        _ = sheet.take(.idle, .pressure(cpu: 0, io: 0), at: 0)
        _ = sheet.take(.idle, .pressure(cpu: 9.99, io: 9.99), at: 30)
        #expect(sheet.nextDeadline == seconds(60))
        #expect(sheet.pass(to: 59.9) == [])
        #expect(sheet.pass(to: 60) == .idle)
        #expect(sheet[.idle].value == .holds)
    }

    @Test(arguments: [
        FactMeasure.pressure(cpu: 10, io: 0), .pressure(cpu: 0, io: 10), .pressure(cpu: 24, io: 24),
        .load(perProcessor: 0.5),
    ])
    func `A busy reading restarts the minute`(measure: FactMeasure) {
        var sheet = FactSheet()
        _ = sheet.take(.idle, .pressure(cpu: 0, io: 0), at: 0)
        _ = sheet.take(.idle, measure, at: 40)
        #expect(sheet.nextDeadline == nil)
        _ = sheet.take(.idle, .pressure(cpu: 0, io: 0), at: 50)
        _ = sheet.pass(to: 100)
        #expect(sheet[.idle].value == .fails)
        _ = sheet.pass(to: 110)
        #expect(sheet[.idle].value == .holds)
    }

    @Test(arguments: [
        FactMeasure.pressure(cpu: 25, io: 0), .pressure(cpu: 0, io: 25), .load(perProcessor: 1),
    ])
    func `Idleness is lost after ten busy seconds`(measure: FactMeasure) {
        var sheet = FactSheet()
        _ = sheet.take(.idle, .pressure(cpu: 0, io: 0), at: 0)
        _ = sheet.pass(to: 60)
        _ = sheet.take(.idle, measure, at: 70)
        #expect(sheet.pass(to: 79.9) == [])
        // A moment below ends the ten seconds, though the machine is not quiet then.
        _ = sheet.take(.idle, .pressure(cpu: 24.9, io: 0), at: 79.9)
        #expect(sheet.pass(to: 85) == [])
        _ = sheet.take(.idle, measure, at: 90)
        #expect(sheet.pass(to: 100) == .idle)
        #expect(sheet[.idle].value == .fails)
        _ = sheet.take(.idle, .pressure(cpu: 9, io: 9), at: 101)
        #expect(sheet[.idle].value == .fails)
    }

    /// Each step's charge, and what follows from it.
    @Test(arguments: [
        [(20.0, FactValue.holds), (19.9, .fails), (24.9, .fails), (25, .holds), (20, .holds)],
        [(19.9, .fails), (20, .fails), (100, .holds), (0, .fails)],
        [(22, .holds), (.nan, .unknown), (22, .holds), (101, .unknown), (-1, .unknown)],
    ])
    func `A battery is low until it is well above`(steps: [(Double, FactValue)]) {
        var sheet = FactSheet()
        for (index, step) in steps.enumerated() {
            _ = sheet.take(.batteryNotLow, .charge(percent: step.0), at: Double(index))
            #expect(sheet[.batteryNotLow].value == step.1, "step \(index)")
        }
    }

    @Test(arguments: [
        (5.0, UInt64(1) << 30, FactValue.holds), (4.99, 1 << 40, .fails),
        (50, 1 << 30 - 1, .fails), (100, .max, .holds), (.nan, .max, .unknown),
        (.infinity, 0, .unknown),
    ])
    func `Storage needs a share and a size`(percent: Double, bytes: UInt64, value: FactValue) {
        var sheet = FactSheet()
        _ = sheet.take(.storage, .space(percent: percent, bytes: bytes), at: 0)
        #expect(sheet[.storage].value == value)
    }

    @Test(arguments: [
        FactMeasure.pressure(cpu: .nan, io: 0), .pressure(cpu: 0, io: .nan),
        .pressure(cpu: 0, io: .infinity), .pressure(cpu: -1, io: 0), .pressure(cpu: 0, io: 101),
        .load(perProcessor: .nan), .load(perProcessor: -1), .load(perProcessor: .infinity),
    ])
    func `An invalid measure is unknown`(measure: FactMeasure) {
        var sheet = FactSheet()
        _ = sheet.take(.idle, .pressure(cpu: 0, io: 0), at: 0)
        _ = sheet.pass(to: 60)
        #expect(sheet.take(.idle, measure, at: 61) == .idle)
        #expect(sheet[.idle].value == .unknown)
        #expect(sheet.nextDeadline == nil)
    }

    @Test func `A time at the end of time does not overflow`() {
        var sheet = FactSheet()
        let end = Moment(monotonic: .never - 1, unix: .max)
        let reading = FactReading(.idle, .pressure(cpu: 0, io: 0), text: "", source: "")
        _ = sheet.update(reading, now: end)
        #expect(sheet.nextDeadline == .never)
        #expect(sheet.advance(now: end) == [])
    }

    /// However measures come, a fact changes only as its rule says, and time alone never undoes it.
    @Test(arguments: SeededGenerator.seeds(16))
    func `Idleness needs a whole quiet minute`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var sheet = FactSheet()
        var now = 0.0
        var quietSince: Double?
        for _ in 0..<2000 {
            now += Double.random(in: 0...40, using: &random)
            let before = sheet[.idle].value
            _ = sheet.pass(to: now)
            if before != .holds, sheet[.idle].value == .holds {
                #expect(now - (quietSince ?? now) >= 59.999_999, "\(random)")
            }
            let levels: [Double] = [0, 5, 15, 40]
            let cpu = levels.randomElement(using: &random) ?? 0
            _ = sheet.take(.idle, .pressure(cpu: cpu, io: 0), at: now)
            if cpu >= 10 { quietSince = nil } else if quietSince == nil { quietSince = now }
            if let deadline = sheet.nextDeadline { #expect(deadline > seconds(now), "\(random)") }
        }
    }
}
