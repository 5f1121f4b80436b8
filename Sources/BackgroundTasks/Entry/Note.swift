// SPDX-License-Identifier: Apache-2.0

/// The ELF note by which the host knows a plugin, and its ABI, before it runs any of it.
///
/// `BG_NOTE("abi=1.0;runtime=swift")` of bghost.h, word by word: a constant in a section can be
/// made of integer literals only. A plugin links this module in, so each gets a copy. The plugin's
/// `id` is not in it: that would leave every author a tuple of hexadecimal words to write.
/// All words are `UInt32`, because notes are read in steps of four bytes without any padding.
@section(".note.bghost") @used
private let note:
    (
        nameSize: UInt32, textSize: UInt32, type: UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
        UInt32, UInt32, UInt32
    ) = (
        7, 24, 1,
        // "bghost\0\0"
        0x6F68_6762, 0x0000_7473,
        // "abi=1.0;"
        0x3D69_6261, 0x3B30_2E31,
        // "runtime=swift\0\0\0"
        0x746E_7572, 0x3D65_6D69, 0x6669_7773, 0x0000_0074
    )
