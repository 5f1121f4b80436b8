/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>

struct search {
  uintptr_t address;
  int       executable;
};

static int look_into(struct dl_phdr_info *library, size_t size, void *context) {
  struct search *search = context;
  (void)size;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    uintptr_t start = library->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD || search->address < start ||
        search->address - start >= segment->p_memsz)
      continue;
    search->executable = (segment->p_flags & PF_X) != 0;
    return 1;
  }
  return 0;
}

int bgs_is_code(const void *address) {
  Dl_info info;
  const ElfW(Sym) *symbol = 0;
  /* Old linkers put constants into a code segment, so check the symbol's own type first. A function
   * that is chosen at load time (IFUNC) has no symbol at its address: then the segment decides. */
  if (dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != 0 &&
      info.dli_saddr == address) {
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type == STT_OBJECT || type == STT_TLS || type == STT_COMMON) return 0;
  }
  struct search search = {(uintptr_t)address, 0};
  dl_iterate_phdr(look_into, &search);
  return search.executable;
}

/* Neither table has the number of symbols; the longest chain of the hash table ends at the last
 * one. */
static size_t symbol_count(const uint32_t *hash) {
  uint32_t buckets = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
  const uint32_t *bucket = hash + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t *chain = bucket + buckets;
  for (uint32_t i = 0; i < buckets; i++)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return 0;
  while ((chain[last - first] & 1) == 0) last++;
  return (size_t)last + 1;
}

size_t bgs_exported_functions(void *handle, const char **names, size_t capacity) {
  struct link_map *map = 0;
  const ElfW(Sym) *symbols = 0;
  const char *text = 0;
  const uint32_t *gnu_hash = 0, *hash = 0;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == 0) return 0;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    /* The linker has made these addresses absolute, unless the section is read-only. */
    uintptr_t place = entry->d_un.d_ptr;
    if (place < map->l_addr) place += map->l_addr;
    if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)place;
    if (entry->d_tag == DT_STRTAB) text = (const char *)place;
    if (entry->d_tag == DT_GNU_HASH) gnu_hash = (const uint32_t *)place;
    if (entry->d_tag == DT_HASH) hash = (const uint32_t *)place;
  }
  if (symbols == 0 || text == 0) return 0;
  size_t count = hash != 0 ? hash[1] : gnu_hash != 0 ? symbol_count(gnu_hash) : 0;
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    unsigned type = ELF64_ST_TYPE(symbols[i].st_info);
    if (symbols[i].st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC)) continue;
    if (found < capacity) names[found] = text + symbols[i].st_name;
    found++;
  }
  return found;
}

const char *bgs_library_of(const void *address) {
  Dl_info information;
  return dladdr(address, &information) != 0 ? information.dli_fname : 0;
}
