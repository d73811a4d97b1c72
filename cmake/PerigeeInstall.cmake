# What others build on: every library, its headers, and a package that finds them.
#
#   find_package(perigee REQUIRED)
#   target_link_libraries(mine PRIVATE perigee::perigee)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# All that a process of a cluster runs, and all engines.
add_library(perigee_all INTERFACE)
set_target_properties(perigee_all PROPERTIES EXPORT_NAME perigee)
target_compile_features(perigee_all INTERFACE cxx_std_20)
target_link_libraries(perigee_all INTERFACE perigee_inventory perigee_engine)

# Every library that `folder` and the folders in it make.
function(perigee_libraries_of folder into)
  set(found "")
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "STATIC_LIBRARY|SHARED_LIBRARY|INTERFACE_LIBRARY")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(inner DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(part IN LISTS inner)
    perigee_libraries_of(${part} more)
    list(APPEND found ${more})
  endforeach()
  set(${into} ${found} PARENT_SCOPE)
endfunction()

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/perigee)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/perigee)
set(libraries perigee_all)
foreach(folder schemas transport engine actors)
  perigee_libraries_of(${PROJECT_SOURCE_DIR}/${folder} more)
  list(APPEND libraries ${more})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${headers}
          COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.capnp")
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/schemas DESTINATION ${headers}
        COMPONENT development FILES_MATCHING PATTERN "*.h")

foreach(library IN LISTS libraries)
  if(NOT library STREQUAL perigee_all)
    string(REGEX REPLACE "^perigee_" "" name ${library})
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  endif()
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${headers}>)
endforeach()
install(TARGETS ${libraries} EXPORT perigeeTargets COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT perigeeTargets NAMESPACE perigee:: DESTINATION ${package}
        COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/perigeeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/perigeeConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/perigeeConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perigeeConfig.cmake
              ${PROJECT_BINARY_DIR}/perigeeConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PerigeeCaf.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PerigeeDependencies.cmake
        DESTINATION ${package} COMPONENT development)
