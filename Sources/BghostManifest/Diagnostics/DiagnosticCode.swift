// SPDX-License-Identifier: Apache-2.0

/// The code of a kind of problem; a code is never reused for another kind.
package enum DiagnosticCode: String, Equatable, Hashable, Sendable, CaseIterable {
    // The file.
    case unreadable = "BG1001"
    case fileTooLarge = "BG1002"
    case emptyFile = "BG1003"
    case notUTF8 = "BG1004"
    case byteOrderMark = "BG1005"
    case cutOff = "BG1006"
    case malformed = "BG1007"
    case nestedTooDeep = "BG1008"
    case unsupportedVersion = "BG1012"

    // Keys and values.
    case duplicateKey = "BG1020"
    case unknownKey = "BG1021"
    case missingKey = "BG1022"
    case wrongType = "BG1023"
    case bareNumber = "BG1024"
    case badDuration = "BG1025"
    case badSize = "BG1026"
    case outOfRange = "BG1027"
    case unknownWord = "BG1028"
    case notHonoured = "BG1030"

    // Names and references.
    case badIdentifier = "BG1031"
    case definedTwice = "BG1032"
    case overlappingFamilies = "BG1033"
    case notDefined = "BG1034"
    case pluginOrFunction = "BG1035"
    case nameCollision = "BG1036"
    case badSignature = "BG1037"
    case badNetworkGrant = "BG1038"
    case badDigest = "BG1039"
    case badPath = "BG1040"
    case badName = "BG1041"
    case badReference = "BG1042"
    case nothingToOverride = "BG1043"
    case notInDropIn = "BG1044"
    case needsExactIdentifier = "BG1045"
    case badCalendar = "BG1046"
    case badTimeZone = "BG1047"
    case badMuteWindow = "BG1048"
    case badPublicKey = "BG1052"
    case badShare = "BG1053"
    case badFunctionParameters = "BG1054"
    case badAddress = "BG1055"
    case badWebAddress = "BG1056"
    case badReceiver = "BG1057"
    case badParametersSchema = "BG1058"
    case wrongParameters = "BG1059"

    // Warnings.
    case sharedInProcess = "BG1060"
    case unenforcedInProcess = "BG1061"
    case runtimeExceedsInterval = "BG1062"
    case expectsInVain = "BG1063"
    case tooManyProblems = "BG1099"

    // The fleet.
    case badFleet = "BG1067"
    case onceWithoutCalendar = "BG1068"
    case onceWithoutFleet = "BG1069"
    case badInFleet = "BG1079"

    // Traces.
    case traceEndpointWithoutPath = "BG1071"
    case traceEndpointOfGRPC = "BG1072"
    case traceHeadersInClear = "BG1073"

    // Relations of tasks.
    case badTags = "BG1074"
    case chainCycle = "BG1075"
    case badChain = "BG1076"

    // Schedules.
    case badRandomDelay = "BG1077"
    case badOnBoot = "BG1078"

    // The surroundings.
    case untrustedFile = "BG1080"
    case unresolvedSecret = "BG2004"

    /// Every code, in the order of their numbers.
    static var all: [DiagnosticCode] { allCases }

    /// A general explanation, and how to resolve the problem; for `bghost help CODE`.
    package var explanation: String {
        fileExplanation ?? valueExplanation ?? nameExplanation
    }
}
