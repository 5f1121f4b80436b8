// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import Glibc

/// The functions of libpq, loaded when the daemon has a fleet.
///
/// Without a fleet nothing is loaded, and bghost needs libpq neither to be built nor to run. Their types are
/// those of `libpq-fe.h`, which have been stable since PostgreSQL 9.
struct LibPQ: Sendable {
    typealias Connection = OpaquePointer
    typealias Outcome = OpaquePointer
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

    static let soname = "libpq.so.5"

    let connectStart: @convention(c) (Texts, Texts, Int32) -> Connection?
    let connectPoll: @convention(c) (Connection) -> Int32
    let parse:
        @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> UnsafeMutableRawPointer?
    let freeOptions: @convention(c) (UnsafeMutableRawPointer) -> Void
    let finish: @convention(c) (Connection) -> Void
    let status: @convention(c) (Connection) -> Int32
    let socket: @convention(c) (Connection) -> Int32
    let errorMessage: @convention(c) (Connection) -> UnsafePointer<CChar>?
    let setNonBlocking: @convention(c) (Connection, Int32) -> Int32
    let setNotices:
        @convention(c) (
            Connection,
            (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Void)?,
            UnsafeMutableRawPointer?
        ) -> UnsafeMutableRawPointer?
    let sendQuery: @convention(c) (Connection, UnsafePointer<CChar>) -> Int32
    let sendParameters:
        @convention(c) (
            Connection, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?, Texts?,
            UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let flush: @convention(c) (Connection) -> Int32
    let consumeInput: @convention(c) (Connection) -> Int32
    let isBusy: @convention(c) (Connection) -> Int32
    let nextResult: @convention(c) (Connection) -> Outcome?
    let resultStatus: @convention(c) (Outcome) -> Int32
    let errorField: @convention(c) (Outcome, Int32) -> UnsafePointer<CChar>?
    let rowCount: @convention(c) (Outcome) -> Int32
    let columnCount: @convention(c) (Outcome) -> Int32
    let value: @convention(c) (Outcome, Int32, Int32) -> UnsafePointer<CChar>?
    let isNull: @convention(c) (Outcome, Int32, Int32) -> Int32
    let clear: @convention(c) (Outcome) -> Void

    /// Loads the library, which then stays loaded.
    ///
    /// - Parameter name: the name or the path of the library.
    static func load(_ name: String = soname) throws(FleetProblem) -> LibPQ {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw FleetProblem(
                .library,
                "\(name) cannot be loaded; install PostgreSQL's client library, on Debian the package"
                    + " libpq5"
            )
        }
        return try LibPQ(handle)
    }

    private init(_ handle: UnsafeMutableRawPointer) throws(FleetProblem) {
        func find<Function>(_ name: String, as _: Function.Type) throws(FleetProblem) -> Function {
            guard let symbol = dlsym(handle, name) else {
                throw FleetProblem(
                    .library,
                    "\(LibPQ.soname) has no function \(name); install that of PostgreSQL 12 or later"
                )
            }
            return unsafeBitCast(symbol, to: Function.self)
        }
        connectStart = try find("PQconnectStartParams", as: type(of: connectStart))
        connectPoll = try find("PQconnectPoll", as: type(of: connectPoll))
        parse = try find("PQconninfoParse", as: type(of: parse))
        freeOptions = try find("PQconninfoFree", as: type(of: freeOptions))
        finish = try find("PQfinish", as: type(of: finish))
        status = try find("PQstatus", as: type(of: status))
        socket = try find("PQsocket", as: type(of: socket))
        errorMessage = try find("PQerrorMessage", as: type(of: errorMessage))
        setNonBlocking = try find("PQsetnonblocking", as: type(of: setNonBlocking))
        setNotices = try find("PQsetNoticeProcessor", as: type(of: setNotices))
        sendQuery = try find("PQsendQuery", as: type(of: sendQuery))
        sendParameters = try find("PQsendQueryParams", as: type(of: sendParameters))
        flush = try find("PQflush", as: type(of: flush))
        consumeInput = try find("PQconsumeInput", as: type(of: consumeInput))
        isBusy = try find("PQisBusy", as: type(of: isBusy))
        nextResult = try find("PQgetResult", as: type(of: nextResult))
        resultStatus = try find("PQresultStatus", as: type(of: resultStatus))
        errorField = try find("PQresultErrorField", as: type(of: errorField))
        rowCount = try find("PQntuples", as: type(of: rowCount))
        columnCount = try find("PQnfields", as: type(of: columnCount))
        value = try find("PQgetvalue", as: type(of: value))
        isNull = try find("PQgetisnull", as: type(of: isNull))
        clear = try find("PQclear", as: type(of: clear))
    }
}

/// The numbers of `libpq-fe.h` and `postgres_ext.h` that are used.
enum LibPQNumber {
    static let connectionOK: Int32 = 0
    static let pollingFailed: Int32 = 0
    static let pollingReading: Int32 = 1
    static let pollingWriting: Int32 = 2
    static let pollingOK: Int32 = 3
    static let commandOK: Int32 = 1
    static let tuplesOK: Int32 = 2
    /// `PG_DIAG_SQLSTATE`.
    static let state = Int32(UInt8(ascii: "C"))
    /// `PG_DIAG_MESSAGE_PRIMARY`.
    static let message = Int32(UInt8(ascii: "M"))
}
