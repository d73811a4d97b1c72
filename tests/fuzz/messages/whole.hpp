/// \file
/// Reads an accepted message to its last field.
#pragma once

#include <capnp/dynamic.h>

#include <cstddef>

namespace perigee::test {

/// Reads every field of `all`, every item of every list and every byte of every text,
/// and ends the process if a value breaks what judge::find_fault() promises: that
/// enumerants and union members are known, texts end in NUL and limits hold. What it
/// knows of the limits it draws from the schema itself. Returns the values read.
std::size_t read_whole(const capnp::DynamicStruct::Reader& all);

} // namespace perigee::test
