#include "compiler/pipeline/stub_library.h"

#include <elf.h>

#include <cstring>

namespace weft::compiler {

port::Bytes emptyLibrary(const std::string& name) {
  constexpr char section_names[] = "\0.dynsym\0.dynstr\0.dynamic\0.shstrtab";
  enum : unsigned { none, dynsym, dynstr, dynamic, shstrtab, section_count };
  const std::string strings = std::string(1, '\0') + name + '\0';
  const size_t symbols_at = sizeof(Elf64_Ehdr), dynamic_at = symbols_at + sizeof(Elf64_Sym);
  const size_t strings_at = dynamic_at + 2 * sizeof(Elf64_Dyn);
  const size_t names_at = strings_at + strings.size();
  const size_t sections_at = (names_at + sizeof section_names + 7) / 8 * 8;
  port::Bytes bytes(sections_at + section_count * sizeof(Elf64_Shdr));
  const auto place = [&](size_t at, const void* data, size_t size) {
    std::memcpy(bytes.data() + at, data, size);
  };

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shoff = sections_at;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = section_count;
  header.e_shstrndx = shstrtab;
  place(0, &header, sizeof header);

  Elf64_Dyn tags[2]{};
  tags[0].d_tag = DT_SONAME;
  tags[0].d_un.d_val = 1;
  place(dynamic_at, tags, sizeof tags);
  place(strings_at, strings.data(), strings.size());
  place(names_at, section_names, sizeof section_names);

  Elf64_Shdr sections[section_count]{};
  sections[dynsym] = {1, SHT_DYNSYM, SHF_ALLOC,        0, symbols_at, sizeof(Elf64_Sym), dynstr,
                      1, 8,          sizeof(Elf64_Sym)};
  sections[dynstr] = {9, SHT_STRTAB, SHF_ALLOC, 0, strings_at, strings.size(), 0, 0, 1, 0};
  sections[dynamic] = {17,          SHT_DYNAMIC, SHF_ALLOC, 0, dynamic_at,
                       sizeof tags, dynstr,      0,         8, sizeof(Elf64_Dyn)};
  sections[shstrtab] = {26, SHT_STRTAB, 0, 0, names_at, sizeof section_names, 0, 0, 1, 0};
  place(sections_at, sections, sizeof sections);
  return bytes;
}

}  // namespace weft::compiler
