// SPDX-License-Identifier: Apache-2.0

@testable import BghostWire
import BghostWireMessages

/// The frames that a worker sends, besides those of notifications and transfers.
extension GoldenTests {
    static let toDaemon: [Sample] = [
        Sample(
            name: "ready",
            message: .ready(
                Ready(
                    id: "i",
                    version: "1",
                    vendor: "",
                    handlers: [.init(name: "h", flags: 2), .init(name: "", flags: 0)]
                )
            ),
            hex: """
                31000000 81 01 0000 0000000000000000
                01000000 69  01000000 31  00000000  0200
                01000000 68 02000000  00000000 00000000
                """
        ),
        Sample(
            name: "refused",
            message: .refused(Refused(code: "abi-major", message: "é")),
            hex: """
                23000000 82 01 0000 0000000000000000
                09000000 6162692d6d616a6f72  02000000 c3a9
                """
        ),
        Sample(
            name: "confined",
            message: .confined(
                Confined(
                    layers: [Confined.Layer(bit: 2, state: 1, detail: "d")],
                    absent: ["/x"],
                    trials: [Confined.Trial(name: "t", error: 13)]
                )
            ),
            hex: """
                2c000000 88 01 0000 0000000000000000
                01 02000000 01 01000000 64  01 02000000 2f78  01 01000000 74 0d000000
                """
        ),
        Sample(
            name: "declared",
            message: .declared(Declared(handler: "h", schema: "{}")),
            hex: """
                1b000000 8a 01 0000 0000000000000000  01000000 68  02000000 7b7d
                """
        ),
        // As `crash_report.c` writes it.
        Sample(
            name: "report",
            message: .report(
                Report(
                    isOfThreads: false,
                    signal: 11,
                    place: "x+0x1",
                    address: "0x2",
                    threads: [Report.Thread(name: "t 7", frames: ["y"])]
                )
            ),
            hex: """
                31000000 89 01 0000 0000000000000000  1d000000
                532031310a 5020782b3078310a 41203078320a 54207420370a 4620790a
                """
        ),
        Sample(
            name: "completed",
            message: .completed(
                Completed(
                    run: 5,
                    status: -3,
                    retryAfterMilliseconds: 1000,
                    message: "m",
                    payload: "[]",
                    isReleased: true
                )
            ),
            hex: """
                27000000 83 01 0100 0500000000000000
                e803000000000000 fdffffff  01000000 6d  02000000 5b5d
                """
        ),
        Sample(
            name: "completed with an error",
            message: .completed(
                Completed(
                    run: 5,
                    status: -1,
                    message: "m",
                    isReleased: true,
                    error: HandlerError(type: "E", file: "a.c", line: 9)
                )
            ),
            hex: """
                35000000 83 01 0900 0500000000000000
                0000000000000000 ffffffff  01000000 6d  00000000
                09000000  01000000 45  03000000 612e63
                """
        ),
        Sample(
            name: "released",
            message: .released(run: 5),
            hex: "10000000 84 01 0000 0500000000000000"
        ),
        Sample(
            name: "progress",
            message: .progress(Progress(run: 5, done: 1, total: .max, phase: "p")),
            hex: """
                25000000 85 01 0000 0500000000000000
                0100000000000000 ffffffffffffffff  01000000 70
                """
        ),
        Sample(
            name: "log",
            message: .log(LogLine(run: 5, level: 4, dropped: 1, text: "x")),
            hex: "19000000 86 01 0400 0500000000000000  01000000 01000000 78"
        ),
        Sample(
            name: "call, submit",
            message: call(
                .submit(
                    task: "t",
                    parameters: "{}",
                    kind: 1,
                    earliestUnixMilliseconds: 256,
                    needs: 3
                )
            ),
            hex: """
                33000000 87 01 0100 0700000000000000  0500000000000000
                01000000 74  02000000 7b7d  01000000 0001000000000000 03000000
                """
        ),
        Sample(
            name: "call, cancel pending",
            message: call(.cancelPending(task: "t")),
            hex: "1d000000 87 01 0200 0700000000000000  0500000000000000  01000000 74"
        ),
        Sample(
            name: "call, cancel all pending",
            message: call(.cancelAllPending),
            hex: "18000000 87 01 0300 0700000000000000  0500000000000000"
        ),
        Sample(
            name: "call, pending",
            message: call(.pending(from: 256)),
            hex: "20000000 87 01 0400 0700000000000000  0500000000000000  0001000000000000"
        ),
        Sample(
            name: "call, fetch",
            message: call(
                .fetch(
                    FetchCall(
                        url: "u",
                        method: "GET",
                        headers: "",
                        body: [1],
                        bodyFile: "",
                        sendsDigest: true,
                        bytesMax: 16,
                        timeoutMilliseconds: 255
                    )
                )
            ),
            hex: """
                42000000 87 01 0500 0700000000000000  0500000000000000
                01000000 75  03000000 474554  00000000  01000000 01  00000000
                01 1000000000000000 ff00000000000000
                """
        ),
        Sample(
            name: "call, cancel fetch",
            message: call(.cancelFetch(call: 6)),
            hex: "20000000 87 01 0600 0700000000000000  0500000000000000  0600000000000000"
        ),
        Sample(
            name: "call, situation",
            message: call(.situation(run: 6)),
            hex: "20000000 87 01 0700 0700000000000000  0500000000000000  0600000000000000"
        ),
        Sample(
            name: "call, save checkpoint",
            message: call(.saveCheckpoint([1, 0, 255])),
            hex: "1f000000 87 01 0800 0700000000000000  0500000000000000  03000000 0100ff"
        ),
        Sample(
            name: "call, load checkpoint",
            message: call(.loadCheckpoint),
            hex: "18000000 87 01 0900 0700000000000000  0500000000000000"
        ),
    ]
}
