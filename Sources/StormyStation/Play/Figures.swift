// SPDX-License-Identifier: Apache-2.0

/// Formats seconds with their unit, and two decimals unless they are whole: `3.02 s`, `0.30 s`, `25 s`.
func seconds(_ value: Double) -> String {
    let text = decimal(value, places: 2)
    let places = text.split(separator: ".").dropFirst().first?.count
    return places == 1 ? "\(text)0 s" : "\(text) s"
}

/// Formats bytes in the largest binary unit with a value of at least one: `14.2 MiB`.
func binarySize(_ bytes: Double) -> String {
    var value = bytes
    var unit = 0
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024, unit < units.count - 1 {
        value /= 1024
        unit += 1
    }
    return "\(decimal(value, places: unit == 0 ? 0 : 1)) \(units[unit])"
}

/// Formats a count with its noun: `1 run`, `2 runs`.
func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}

/// Formats a number, rounded and without unnecessary decimals.
///
/// It does not trap on any number, because numbers in reports are untrusted.
private func decimal(_ value: Double, places: Int) -> String {
    guard abs(value) < 1e12 else { return "\(value)" }
    let scale = places == 0 ? 1.0 : places == 1 ? 10.0 : 100.0
    let rounded = (value * scale).rounded() / scale
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
}
