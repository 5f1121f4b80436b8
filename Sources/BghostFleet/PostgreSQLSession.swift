// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
package import BghostModel
internal import Glibc

/// A connection to PostgreSQL, on which each call ends within a bounded time.
///
/// Use it on one thread. After an error of the connection it is closed, and only a new one helps.
package final class PostgreSQLSession {
    /// The values of a row as texts; `nil` is NULL.
    package typealias Row = [String?]

    private let library: LibPQ
    private let connection: LibPQ.Connection
    /// The time limit of a call, nanoseconds.
    private let timeout: UInt64
    /// Whether the connection broke; only a new session helps then.
    package private(set) var isBroken = false
    /// The code of SQL with which the server refused the last statement; `nil` if it did not.
    package private(set) var refusedState: String?

    /// The most rows of an answer that are read; more are left out.
    package static let rowsMax = 10_000

    /// Connects.
    ///
    /// - Parameter text: a connection string of libpq; it is in no error.
    init(_ library: LibPQ, _ text: String, timeout: UInt64) throws(FleetProblem) {
        try Self.check(text, library)
        self.library = library
        self.timeout = timeout
        let pairs = [("dbname", text), ("fallback_application_name", "bghost")]
        let opened = Self.withTexts(pairs.map { $0.0 }) { names in
            Self.withTexts(pairs.map { $0.1 }) { values in library.connectStart(names, values, 1) }
        }
        guard let opened else { throw FleetProblem(.unreachable, "no memory for a connection") }
        connection = opened
        // If it throws, `deinit` closes the connection.
        try establish(until: Self.now + timeout)
    }

    deinit { library.finish(connection) }

    /// Refuses a text that libpq cannot read, or would read otherwise than meant: its own message would show parts
    /// of the text.
    private static func check(_ text: String, _ library: LibPQ) throws(FleetProblem) {
        guard !FleetSettings.isMisleading(connection: text) else {
            throw FleetProblem(
                .refused,
                "`host.fleet.connection` has a `/` or an `@` between `://` and its last `@`, so PostgreSQL"
                    + " would take a part of the password for a server; write `/` as %2F and `@` as %40 in"
                    + " the password, the user and the parameters of a URL"
            )
        }
        guard let options = library.parse(text, nil) else {
            throw FleetProblem(
                .refused,
                "`host.fleet.connection` is no connection string of PostgreSQL; write one such as"
                    + " \"postgresql://bghost@db.example/fleet?sslmode=verify-full\"; in a URL a"
                    + " password is percent-encoded"
            )
        }
        library.freeOptions(options)
    }

    private func establish(until deadline: UInt64) throws(FleetProblem) {
        // A notice would go to the daemon's standard error.
        _ = library.setNotices(connection, { _, _ in }, nil)
        var wanted = LibPQNumber.pollingWriting
        while library.status(connection) != 1 {
            switch wanted {
            case LibPQNumber.pollingOK:
                guard library.setNonBlocking(connection, 1) == 0 else { throw broken() }
                return
            case LibPQNumber.pollingReading, LibPQNumber.pollingWriting:
                try wait(
                    reading: wanted == LibPQNumber.pollingReading,
                    writing: wanted == LibPQNumber.pollingWriting,
                    until: deadline
                )
            default: throw refusal()
            }
            wanted = library.connectPoll(connection)
        }
        throw refusal()
    }

    // MARK: Statements

    /// Sends a statement with its parameters as one message, and returns the rows of its answer.
    ///
    /// - Parameter parameters: texts, which the server reads as their types; they contain no NUL.
    package func rows(
        _ statement: String,
        _ parameters: [String] = []
    ) throws(FleetProblem) -> [Row] {
        refusedState = nil
        let sent = Self.withTexts(parameters) { values in
            library.sendParameters(
                connection,
                statement,
                Int32(parameters.count),
                nil,
                values,
                nil,
                nil,
                0
            )
        }
        guard sent == 1 else { throw broken() }
        return try answer()
    }

    /// Sets the server's time limits of a statement and of its waits for locks, milliseconds; 0 is none.
    func limit(statement: UInt64, lock: UInt64) throws(FleetProblem) {
        let setting = """
            SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false)
            """
        // The answer repeats the values.
        _ = try rows(setting, ["\(statement)", "\(lock)"])
    }

    /// Sends statements without parameters, which are one transaction.
    ///
    /// - Parameter timeout: the time limit of this call, nanoseconds; `nil` for that of each call.
    func run(_ statements: String, timeout: UInt64? = nil) throws(FleetProblem) {
        refusedState = nil
        guard library.sendQuery(connection, statements) == 1 else { throw broken() }
        _ = try answer(timeout)
    }

    /// - Parameter timeout: `nil` for the time limit of each call.
    private func answer(_ timeout: UInt64? = nil) throws(FleetProblem) -> [Row] {
        let deadline = Self.now + (timeout ?? self.timeout)
        while true {
            let left = library.flush(connection)
            guard left >= 0 else { throw broken() }
            if left == 0 { break }
            try wait(reading: true, writing: true, until: deadline)
            guard library.consumeInput(connection) == 1 else { throw broken() }
        }
        var rows: [Row] = []
        var problem: FleetProblem?
        while true {
            while library.isBusy(connection) == 1 {
                try wait(reading: true, writing: false, until: deadline)
                guard library.consumeInput(connection) == 1 else { throw broken() }
            }
            guard let result = library.nextResult(connection) else { break }
            defer { library.clear(result) }
            switch library.resultStatus(result) {
            case LibPQNumber.commandOK: break
            case LibPQNumber.tuplesOK: rows = read(result)
            default: problem = problem ?? refusal(of: result)
            }
        }
        // On a broken connection libpq has no further result either.
        guard library.status(connection) == LibPQNumber.connectionOK else {
            isBroken = true
            throw problem ?? broken()
        }
        if let problem { throw problem }
        return rows
    }

    private func read(_ result: LibPQ.Outcome) -> [Row] {
        let columns = library.columnCount(result)
        return (0..<min(library.rowCount(result), Int32(Self.rowsMax))).map { row in
            (0..<columns).map { column in
                guard library.isNull(result, row, column) == 0 else { return nil }
                return library.value(result, row, column).map { String(cString: $0) }
            }
        }
    }

    // MARK: Waiting

    private static var now: UInt64 { BootClock.now.nanoseconds }

    private func wait(reading: Bool, writing: Bool, until deadline: UInt64) throws(FleetProblem) {
        let events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
        while true {
            let now = Self.now
            guard now < deadline else {
                isBroken = true
                throw FleetProblem(
                    .unreachable,
                    "the server has not answered for \(DurationText.of(nanoseconds: timeout))"
                )
            }
            var waiting = pollfd(
                fd: library.socket(connection),
                events: Int16(events),
                revents: 0
            )
            let milliseconds = Int32(clamping: (deadline - now) / 1_000_000 + 1)
            let ready = poll(&waiting, 1, milliseconds)
            if ready > 0 { return }
            guard ready == 0 || errno == EINTR else { throw broken() }
        }
    }

    // MARK: Errors

    private func broken() -> FleetProblem {
        isBroken = true
        return FleetProblem(.unreachable, "the connection to the server broke: \(message)")
    }

    /// Why no connection came about.
    private func refusal() -> FleetProblem {
        isBroken = true
        let text = message
        // The protocol gives no code before the session begins; the words are those of the server.
        let isRefusal = ["FATAL", "password", "authentication"].contains { text.contains($0) }
        return FleetProblem(
            isRefusal ? .refused : .unreachable,
            isRefusal ? "the server refuses the connection: \(text)" : "no server: \(text)"
        )
    }

    private func refusal(of result: LibPQ.Outcome) -> FleetProblem {
        func field(_ field: Int32) -> String {
            library.errorField(result, field).map { String(cString: $0) } ?? ""
        }
        let (state, text) = (field(LibPQNumber.state), Self.line(field(LibPQNumber.message)))
        refusedState = state
        switch state {
        // read_only_sql_transaction
        case "25006":
            return FleetProblem(.readOnly, "the server cannot be written to: \(text)")
        // query_canceled and lock_not_available, by the time limits of the session
        case "57014", "55P03":
            return FleetProblem(.unreachable, "the server has not answered in time: \(text)")
        // admin_shutdown, crash_shutdown, cannot_connect_now
        case "57P01", "57P02", "57P03":
            return FleetProblem(.unreachable, "the server ends the connection: \(text)")
        case "42501":
            return FleetProblem(
                .refused,
                "the user of the fleet lacks a right: \(text); it needs CREATE on the database once,"
                    + " and then SELECT, INSERT, UPDATE and DELETE on the tables of schema bghost"
            )
        default:
            return FleetProblem(.statement, "the server refuses a statement: \(text) (\(state))")
        }
    }

    private var message: String {
        Self.line(library.errorMessage(connection).map { String(cString: $0) } ?? "")
    }

    /// A text of the server as one line of at most 300 bytes.
    private static func line(_ text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let clean = String(words.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 })
        return clean.utf8.count > 300 ? String(clean.prefix(290)) + "…" : clean
    }

    /// Calls a function with a list of C strings that ends with `nil`.
    private static func withTexts<Answer>(
        _ texts: [String],
        _ body: (LibPQ.Texts) -> Answer
    ) -> Answer {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let list = copies.map { UnsafePointer($0) } + [nil]
        return list.withUnsafeBufferPointer { buffer in
            // The list has its end at least, so it has an address.
            buffer.baseAddress.map(body) ?? withUnsafePointer(to: nil, body)
        }
    }
}

/// The time since boot, with that in which the machine was suspended: a lease ends meanwhile.
enum BootClock {
    static var now: MonotonicInstant { Monotonic.now + KernelClock.slept }
}
