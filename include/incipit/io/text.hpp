// SPDX-License-Identifier: MIT
/// @file
/// @brief Whole files: read with typed errors, written so that a reader never sees half of one.
#pragma once

#include <incipit/core/error.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace incipit::inline INCIPIT_ABI {
namespace io {

/// @brief The bytes of a regular file.
/// @throws IoError naming the path when it is missing, not a regular file, unreadable, or larger than `limit` bytes.
inline std::string read_file(const std::filesystem::path& path, std::uintmax_t limit = std::uintmax_t{1} << 34) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  require<IoError>(std::filesystem::exists(status), path.string(), "no such file", "a readable file");
  require<IoError>(std::filesystem::is_regular_file(status), path.string(), "not a regular file", "a readable file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  require<IoError>(!error, path.string(), error.message(), "a readable file");
  require<IoError>(size <= limit, path.string(), size, "at most " + std::to_string(limit) + " bytes");
  std::ifstream in(path, std::ios::binary);
  require<IoError>(in.is_open(), path.string(), "a file that cannot be opened", "a readable file");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  require<IoError>(static_cast<std::uintmax_t>(in.gcount()) == size, path.string(), "a read error", "a readable file");
  return bytes;
}

/// @brief Writes `bytes` to `path` as a whole: into a neighbour "path.part", which then takes the name.
/// @details A failure (full disk, no permission) leaves an older file as it was, and no part file behind.
/// @throws IoError naming the path and the reason.
inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::path part = path;
  part += ".part";
  std::error_code error, ignored;
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    require<IoError>(out.is_open(), path.string(), "a file that cannot be created", "a writable path");
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      std::filesystem::remove(part, ignored);
      throw IoError(path.string(), "a write error",
                    "a device with room for " + std::to_string(bytes.size()) + " bytes");
    }
  }
  std::filesystem::rename(part, path, error);
  if (error) {
    std::filesystem::remove(part, ignored);
    throw IoError(path.string(), error.message(), "a writable path");
  }
}

}  // namespace io
}  // namespace incipit::inline INCIPIT_ABI
