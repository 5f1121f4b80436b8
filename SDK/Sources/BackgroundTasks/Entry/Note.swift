// SPDX-License-Identifier: Apache-2.0

/// The ELF note that identifies a plugin and its ABI before the host runs any of its code.
///
/// It is `BG_NOTE("abi=1.0;runtime=swift;params=checked")` of bghost.h as words, since a constant in a
/// section can only consist of integer literals. Each plugin links this module and so gets a copy. The
/// note does not contain the plugin's `id`: each author would have to write it as a tuple of hexadecimal
/// words. All words are `UInt32`, because notes are read in steps of four bytes without padding.
@section(".note.bghost") @used
private let note:
    (
        nameSize: UInt32, textSize: UInt32, type: UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
        UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32
    ) = (
        7, 40, 1,
        // "bghost\0\0"
        0x6F68_6762, 0x0000_7473,
        // "abi=1.0;"
        0x3D69_6261, 0x3B30_2E31,
        // "runtime="
        0x746E_7572, 0x3D65_6D69,
        // "swift;pa"
        0x6669_7773, 0x6170_3B74,
        // "rams=che"
        0x736D_6172, 0x6568_633D,
        // "cked\0\0\0\0"
        0x6465_6B63, 0x0000_0000
    )
