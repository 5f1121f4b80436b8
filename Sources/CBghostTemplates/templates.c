/* SPDX-License-Identifier: Apache-2.0
 *
 * A test compares this list with the folders. Paths are relative to this file; the compiler notes them, so
 * a changed template is compiled again. */
#include "CBghostTemplates.h"

static const unsigned char c_Makefile[] = {
#embed "../../Templates/c/Makefile"
};
static const unsigned char c_README_md[] = {
#embed "../../Templates/c/README.md"
};
static const unsigned char c_ci_sh[] = {
#embed "../../Templates/c/ci.sh"
};
static const unsigned char c_gitignore_txt[] = {
#embed "../../Templates/c/gitignore.txt"
};
static const unsigned char c_tasks_dev_json[] = {
#embed "../../Templates/c/tasks.dev.json"
};
static const unsigned char c_template_name_c[] = {
#embed "../../Templates/c/template_name.c"
};
static const unsigned char c_template_name_test_c[] = {
#embed "../../Templates/c/template_name_test.c"
};
static const unsigned char cpp_Makefile[] = {
#embed "../../Templates/cpp/Makefile"
};
static const unsigned char cpp_README_md[] = {
#embed "../../Templates/cpp/README.md"
};
static const unsigned char cpp_ci_sh[] = {
#embed "../../Templates/cpp/ci.sh"
};
static const unsigned char cpp_gitignore_txt[] = {
#embed "../../Templates/cpp/gitignore.txt"
};
static const unsigned char cpp_tasks_dev_json[] = {
#embed "../../Templates/cpp/tasks.dev.json"
};
static const unsigned char cpp_template_name_cc[] = {
#embed "../../Templates/cpp/template_name.cc"
};
static const unsigned char cpp_template_name_test_cc[] = {
#embed "../../Templates/cpp/template_name_test.cc"
};
static const unsigned char go_README_md[] = {
#embed "../../Templates/go/README.md"
};
static const unsigned char go_bghost_abi_c[] = {
#embed "../../Templates/go/bghost/abi.c"
};
static const unsigned char go_bghost_abi_h[] = {
#embed "../../Templates/go/bghost/abi.h"
};
static const unsigned char go_bghost_bghost_go[] = {
#embed "../../Templates/go/bghost/bghost.go"
};
static const unsigned char go_ci_sh[] = {
#embed "../../Templates/go/ci.sh"
};
static const unsigned char go_gitignore_txt[] = {
#embed "../../Templates/go/gitignore.txt"
};
static const unsigned char go_go_mod[] = {
#embed "../../Templates/go/go.mod"
};
static const unsigned char go_main_go[] = {
#embed "../../Templates/go/main.go"
};
static const unsigned char go_main_test_go[] = {
#embed "../../Templates/go/main_test.go"
};
static const unsigned char go_tasks_dev_json[] = {
#embed "../../Templates/go/tasks.dev.json"
};
static const unsigned char ios_Package_swift[] = {
#embed "../../Templates/ios/Package.swift"
};
static const unsigned char ios_README_md[] = {
#embed "../../Templates/ios/README.md"
};
static const unsigned char ios_Sources_TemplateName_Entry_swift[] = {
#embed "../../Templates/ios/Sources/TemplateNameIOS/Entry.swift"
};
static const unsigned char ios_app_swift[] = {
#embed "../../Templates/ios/Sources/TemplateNameIOS/TemplateNameIOSApp.swift"
};
static const unsigned char ios_app_tests_swift[] = {
#embed "../../Templates/ios/Tests/TemplateNameIOSTests/TemplateNameIOSAppTests.swift"
};
static const unsigned char ios_ci_sh[] = {
#embed "../../Templates/ios/ci.sh"
};
static const unsigned char ios_gitignore_txt[] = {
#embed "../../Templates/ios/gitignore.txt"
};
static const unsigned char ios_swift_format_json[] = {
#embed "../../Templates/ios/swift-format.json"
};
static const unsigned char ios_tasks_dev_json[] = {
#embed "../../Templates/ios/tasks.dev.json"
};
static const unsigned char rust_Cargo_lock[] = {
#embed "../../Templates/rust/Cargo.lock"
};
static const unsigned char rust_Cargo_toml[] = {
#embed "../../Templates/rust/Cargo.toml"
};
static const unsigned char rust_README_md[] = {
#embed "../../Templates/rust/README.md"
};
static const unsigned char rust_ci_sh[] = {
#embed "../../Templates/rust/ci.sh"
};
static const unsigned char rust_gitignore_txt[] = {
#embed "../../Templates/rust/gitignore.txt"
};
static const unsigned char rust_src_lib_rs[] = {
#embed "../../Templates/rust/src/lib.rs"
};
static const unsigned char rust_tasks_dev_json[] = {
#embed "../../Templates/rust/tasks.dev.json"
};
static const unsigned char swift_Package_swift[] = {
#embed "../../Templates/swift/Package.swift"
};
static const unsigned char swift_README_md[] = {
#embed "../../Templates/swift/README.md"
};
static const unsigned char swift_Sources_TemplateName_Entry_swift[] = {
#embed "../../Templates/swift/Sources/TemplateName/Entry.swift"
};
static const unsigned char swift_Sources_TemplateName_Primes_swift[] = {
#embed "../../Templates/swift/Sources/TemplateName/Primes.swift"
};
static const unsigned char swift_Tests_TemplateNameTests_PrimesTests_swift[] = {
#embed "../../Templates/swift/Tests/TemplateNameTests/PrimesTests.swift"
};
static const unsigned char swift_ci_sh[] = {
#embed "../../Templates/swift/ci.sh"
};
static const unsigned char swift_gitignore_txt[] = {
#embed "../../Templates/swift/gitignore.txt"
};
static const unsigned char swift_swift_format_json[] = {
#embed "../../Templates/swift/swift-format.json"
};
static const unsigned char swift_tasks_dev_json[] = {
#embed "../../Templates/swift/tasks.dev.json"
};
static const unsigned char rust_src_bghost_rs[] = {
#embed "../../Examples/rust/bghost.rs"
};

static const bg_template_file files[] = {
  { "c/Makefile", c_Makefile, sizeof c_Makefile },
  { "c/README.md", c_README_md, sizeof c_README_md },
  { "c/ci.sh", c_ci_sh, sizeof c_ci_sh },
  { "c/gitignore.txt", c_gitignore_txt, sizeof c_gitignore_txt },
  { "c/tasks.dev.json", c_tasks_dev_json, sizeof c_tasks_dev_json },
  { "c/template_name.c", c_template_name_c, sizeof c_template_name_c },
  { "c/template_name_test.c", c_template_name_test_c, sizeof c_template_name_test_c },
  { "cpp/Makefile", cpp_Makefile, sizeof cpp_Makefile },
  { "cpp/README.md", cpp_README_md, sizeof cpp_README_md },
  { "cpp/ci.sh", cpp_ci_sh, sizeof cpp_ci_sh },
  { "cpp/gitignore.txt", cpp_gitignore_txt, sizeof cpp_gitignore_txt },
  { "cpp/tasks.dev.json", cpp_tasks_dev_json, sizeof cpp_tasks_dev_json },
  { "cpp/template_name.cc", cpp_template_name_cc, sizeof cpp_template_name_cc },
  { "cpp/template_name_test.cc", cpp_template_name_test_cc, sizeof cpp_template_name_test_cc },
  { "go/README.md", go_README_md, sizeof go_README_md },
  { "go/bghost/abi.c", go_bghost_abi_c, sizeof go_bghost_abi_c },
  { "go/bghost/abi.h", go_bghost_abi_h, sizeof go_bghost_abi_h },
  { "go/bghost/bghost.go", go_bghost_bghost_go, sizeof go_bghost_bghost_go },
  { "go/ci.sh", go_ci_sh, sizeof go_ci_sh },
  { "go/gitignore.txt", go_gitignore_txt, sizeof go_gitignore_txt },
  { "go/go.mod", go_go_mod, sizeof go_go_mod },
  { "go/main.go", go_main_go, sizeof go_main_go },
  { "go/main_test.go", go_main_test_go, sizeof go_main_test_go },
  { "go/tasks.dev.json", go_tasks_dev_json, sizeof go_tasks_dev_json },
  { "ios/Package.swift", ios_Package_swift, sizeof ios_Package_swift },
  { "ios/README.md", ios_README_md, sizeof ios_README_md },
  { "ios/Sources/TemplateNameIOS/Entry.swift", ios_Sources_TemplateName_Entry_swift, sizeof ios_Sources_TemplateName_Entry_swift },
  { "ios/Sources/TemplateNameIOS/TemplateNameIOSApp.swift", ios_app_swift, sizeof ios_app_swift },
  { "ios/Tests/TemplateNameIOSTests/TemplateNameIOSAppTests.swift", ios_app_tests_swift, sizeof ios_app_tests_swift },
  { "ios/ci.sh", ios_ci_sh, sizeof ios_ci_sh },
  { "ios/gitignore.txt", ios_gitignore_txt, sizeof ios_gitignore_txt },
  { "ios/swift-format.json", ios_swift_format_json, sizeof ios_swift_format_json },
  { "ios/tasks.dev.json", ios_tasks_dev_json, sizeof ios_tasks_dev_json },
  { "rust/Cargo.lock", rust_Cargo_lock, sizeof rust_Cargo_lock },
  { "rust/Cargo.toml", rust_Cargo_toml, sizeof rust_Cargo_toml },
  { "rust/README.md", rust_README_md, sizeof rust_README_md },
  { "rust/ci.sh", rust_ci_sh, sizeof rust_ci_sh },
  { "rust/gitignore.txt", rust_gitignore_txt, sizeof rust_gitignore_txt },
  { "rust/src/lib.rs", rust_src_lib_rs, sizeof rust_src_lib_rs },
  { "rust/tasks.dev.json", rust_tasks_dev_json, sizeof rust_tasks_dev_json },
  { "swift/Package.swift", swift_Package_swift, sizeof swift_Package_swift },
  { "swift/README.md", swift_README_md, sizeof swift_README_md },
  { "swift/Sources/TemplateName/Entry.swift", swift_Sources_TemplateName_Entry_swift, sizeof swift_Sources_TemplateName_Entry_swift },
  { "swift/Sources/TemplateName/Primes.swift", swift_Sources_TemplateName_Primes_swift, sizeof swift_Sources_TemplateName_Primes_swift },
  { "swift/Tests/TemplateNameTests/PrimesTests.swift", swift_Tests_TemplateNameTests_PrimesTests_swift, sizeof swift_Tests_TemplateNameTests_PrimesTests_swift },
  { "swift/ci.sh", swift_ci_sh, sizeof swift_ci_sh },
  { "swift/gitignore.txt", swift_gitignore_txt, sizeof swift_gitignore_txt },
  { "swift/swift-format.json", swift_swift_format_json, sizeof swift_swift_format_json },
  { "swift/tasks.dev.json", swift_tasks_dev_json, sizeof swift_tasks_dev_json },
  { "rust/src/bghost.rs", rust_src_bghost_rs, sizeof rust_src_bghost_rs },
};

const bg_template_file *bg_template_file_at(size_t index) {
  return index < sizeof files / sizeof *files ? &files[index] : NULL;
}
