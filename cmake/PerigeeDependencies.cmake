# What we build on. One line of reason beside each library.
find_package(Threads REQUIRED)
find_package(CapnProto REQUIRED)       # what actors say to each other
find_package(spdlog REQUIRED)          # events
find_package(OpenSSL REQUIRED)         # SHA-256 of block keys; TLS of payload connections
find_path(TL_EXPECTED_INCLUDE_DIR tl/expected.hpp REQUIRED) # results; libexpected-dev
find_path(PCRE2_INCLUDE_DIR pcre2.h REQUIRED)               # pre-tokenizers' patterns
find_library(PCRE2_LIBRARY pcre2-8 REQUIRED)
find_package(tomlplusplus REQUIRED)    # topology files
find_package(Boost 1.81 REQUIRED COMPONENTS json) # HTTP by Beast, and JSON
find_path(IBVERBS_INCLUDE_DIR infiniband/verbs.h)           # RDMA; without it there is none
find_library(IBVERBS_LIBRARY ibverbs)
find_path(HWLOC_INCLUDE_DIR hwloc.h)                        # which NIC is near which memory
find_library(HWLOC_LIBRARY hwloc)

# Not ours: who uses an installed Perigee makes them anew, so they are imported.
add_library(perigee_expected INTERFACE IMPORTED GLOBAL)
target_include_directories(perigee_expected SYSTEM INTERFACE ${TL_EXPECTED_INCLUDE_DIR})
add_library(perigee_pcre2 INTERFACE IMPORTED GLOBAL)
target_include_directories(perigee_pcre2 SYSTEM INTERFACE ${PCRE2_INCLUDE_DIR})
target_link_libraries(perigee_pcre2 INTERFACE ${PCRE2_LIBRARY})
if(IBVERBS_INCLUDE_DIR AND IBVERBS_LIBRARY AND HWLOC_INCLUDE_DIR AND HWLOC_LIBRARY)
  add_library(perigee_ibverbs INTERFACE IMPORTED GLOBAL)
  target_include_directories(perigee_ibverbs SYSTEM INTERFACE ${IBVERBS_INCLUDE_DIR}
                             ${HWLOC_INCLUDE_DIR})
  target_link_libraries(perigee_ibverbs INTERFACE ${IBVERBS_LIBRARY} ${HWLOC_LIBRARY})
endif()

include(PerigeeCaf)

if(NOT PERIGEE_FOR_USERS)
  find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)     # checksums of journals
  find_library(XXHASH_LIBRARY xxhash REQUIRED)
  add_library(perigee_xxhash INTERFACE)
  target_include_directories(perigee_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
  target_link_libraries(perigee_xxhash INTERFACE ${XXHASH_LIBRARY})
  find_package(prometheus-cpp REQUIRED) # the text format of /metrics
  find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED) # the command line
  add_library(perigee_cli11 INTERFACE)
  target_include_directories(perigee_cli11 SYSTEM INTERFACE ${CLI11_INCLUDE_DIR})
  if(NOT DEFINED PERIGEE_TESTS OR PERIGEE_TESTS)
    find_package(Catch2 2 REQUIRED)
  endif()
endif()
