// SPDX-License-Identifier: Apache-2.0

import BghostSandbox

extension FilterProgram {
    /// What a worker does with it before it installs it.
    func replacingOwnProcess(by pid: UInt32) -> [Instruction] {
        var instructions = instructions
        for index in ownProcess { instructions[Int(index)].operand = pid }
        return instructions
    }
}

/// What the kernel's own machine makes of a filter, in the few lines that these need.
struct FilterMachine {
    enum Fault: Error {
        case noAnswer
        case unknownCode(UInt16)
    }

    let instructions: [FilterProgram.Instruction]

    init(_ instructions: [FilterProgram.Instruction]) { self.instructions = instructions }

    /// The answer to one call.
    func answer(_ architecture: UInt32, _ number: UInt32, _ arguments: [UInt64] = []) throws
        -> UInt32
    {
        var index = 0
        var accumulator: UInt32 = 0
        while instructions.indices.contains(index) {
            let step = instructions[index]
            index += 1
            switch step.code {
            case FilterProgram.Code.load:
                accumulator = word(step.operand, architecture, number, arguments)
            case FilterProgram.Code.and: accumulator &= step.operand
            case FilterProgram.Code.jump: index += Int(step.operand)
            case FilterProgram.Code.equals: jump(accumulator == step.operand, step, &index)
            case FilterProgram.Code.atLeast: jump(accumulator >= step.operand, step, &index)
            case FilterProgram.Code.anyBit: jump(accumulator & step.operand != 0, step, &index)
            case FilterProgram.Code.answer: return step.operand
            default: throw Fault.unknownCode(step.code)
            }
        }
        throw Fault.noAnswer
    }

    private func jump(_ holds: Bool, _ step: FilterProgram.Instruction, _ index: inout Int) {
        index += Int(holds ? step.ifTrue : step.ifFalse)
    }

    /// `struct seccomp_data`.
    private func word(
        _ offset: UInt32,
        _ architecture: UInt32,
        _ number: UInt32,
        _ arguments: [UInt64]
    ) -> UInt32 {
        switch offset {
        case 0: return number
        case 4: return architecture
        default:
            let argument = Int(offset) - 16
            let value = argument / 8 < arguments.count ? arguments[argument / 8] : 0
            return UInt32(truncatingIfNeeded: argument % 8 == 0 ? value : value >> 32)
        }
    }
}
