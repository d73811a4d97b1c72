# Writes C++ source that holds the text of files, for what a program is to bring along:
#   cmake -DOUT=page.cpp -DHEADER=page.hpp -DNAMESPACE=a::b "-DTEXTS=name=file|name=file" -P EmbedText.cmake
# Each becomes `const std::string_view name`, which HEADER declares.
set(source "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
string(REPLACE "|" ";" texts "${TEXTS}")
foreach(text IN LISTS texts)
  string(REGEX MATCH "^([a-z0-9_]+)=(.*)$" found "${text}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" content)
  string(APPEND source "\nconst std::string_view ${name} = R\"perigee(${content})perigee\";\n")
endforeach()
string(APPEND source "\n} // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}" "${source}")
