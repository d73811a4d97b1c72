# Makes perigee_caf. CAF 0.17 if it is there, for virtual_time.hpp is not ported to 1.x;
# else a 1.x. The former, as Debian has it, comes without a CMake package, the latter
# with one.
if(TARGET perigee_caf)
  return()
endif()
add_library(perigee_caf INTERFACE IMPORTED GLOBAL)
find_path(CAF_INCLUDE_DIR caf/all.hpp)
set(caf_017 "")
if(CAF_INCLUDE_DIR AND EXISTS ${CAF_INCLUDE_DIR}/caf/config.hpp)
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp caf_017
       REGEX "^#define CAF_VERSION 17[0-9][0-9]$")
endif()
if(caf_017)
  find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
  find_library(CAF_IO_LIBRARY caf_io REQUIRED)
  find_library(CAF_OPENSSL_LIBRARY caf_openssl REQUIRED)
  target_include_directories(perigee_caf SYSTEM INTERFACE ${CAF_INCLUDE_DIR})
  target_link_libraries(perigee_caf INTERFACE ${CAF_OPENSSL_LIBRARY} ${CAF_IO_LIBRARY} ${CAF_CORE_LIBRARY}
                                              Threads::Threads)
else()
  find_package(CAF 1 REQUIRED COMPONENTS core io openssl)
  target_link_libraries(perigee_caf INTERFACE CAF::core CAF::io CAF::openssl)
endif()
