# Run by cmake/help.cmake: packs PAGES (paths below DOCS) and GLOSSARY into the compressed file PACKED. The timestamp is fixed, so
# equal pages give equal bytes.
string(ASCII 12 form_feed)
set(text ${PACKED}.txt)
file(WRITE ${text} "")
foreach(page IN LISTS PAGES)
  file(READ ${DOCS}/${page} content)
  file(APPEND ${text} "${form_feed}${page}\n${content}")
endforeach()
file(READ ${GLOSSARY} content)
file(APPEND ${text} "${form_feed}reference/glossary.md\n${content}")
file(ARCHIVE_CREATE OUTPUT ${PACKED} PATHS ${text} FORMAT raw COMPRESSION Zstd COMPRESSION_LEVEL 9 MTIME "2000-01-01")
file(REMOVE ${text})
