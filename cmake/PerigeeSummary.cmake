# What this build will be, and what was found that turns something on.
function(perigee_line name found on off)
  if(found)
    message(STATUS "  ${name}: found; ${on}")
  else()
    message(STATUS "  ${name}: not found; ${off}")
  endif()
endfunction()

set(kind ${CMAKE_BUILD_TYPE})
if(PERIGEE_SANITIZE)
  string(APPEND kind ", sanitizers ${PERIGEE_SANITIZE}")
endif()
if(PERIGEE_FUZZ)
  string(APPEND kind ", fuzz targets")
endif()
message(STATUS "Perigee ${PROJECT_VERSION} (${kind}):")
perigee_line("ccache" "${CCACHE_PROGRAM}" "what was compiled before is reused"
             "everything is compiled anew")
if(PERIGEE_TESTS)
  set(models ${PROJECT_SOURCE_DIR}/models)
  file(GLOB smollm2 ${models}/SmolLM2-*.gguf)
  file(GLOB gemma3 ${models}/gemma-3-*.gguf)
  perigee_line("default model" "${smollm2}" "the tests that need it run"
               "they are skipped (tools/fetch_model.sh fetches it)")
  perigee_line("second model" "${gemma3}" "the tests that need it run"
               "they are skipped (tools/fetch_model.sh gemma3 fetches it)")
endif()
