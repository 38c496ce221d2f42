// SPDX-License-Identifier: GPL-2.0-or-later
// Files as training programs leave them, byte for byte in the parts that matter: archives as
// torch.save makes them, safetensors, and the pickle of a distributed checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace acrf {

inline std::string little_endian(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i)  // past eight bytes only zeros follow
    bytes += i < 8 ? static_cast<char>(value >> (8 * i) & 0xff) : '\0';
  return bytes;
}

// An archive with one stored member; with zip64 the end refers to the long records, as for
// archives of 4 GB and more.
inline std::string zip_archive(const std::string& data, bool zip64 = false) {
  const std::string name = "archive/data.pkl";
  const std::string fields = little_endian(20, 2) + little_endian(0, 2) + little_endian(0, 2) +
                             little_endian(0, 4) + little_endian(0, 4) +
                             little_endian(data.size(), 4) + little_endian(data.size(), 4) +
                             little_endian(name.size(), 2) + little_endian(0, 2);
  std::string zip = "PK\x03\x04" + fields + name + data;
  const auto offset = zip.size();
  const auto entry = "PK\x01\x02" + little_endian(20, 2) + fields + little_endian(0, 10) +
                     little_endian(0, 4) + name;
  zip += entry;
  if (zip64) {
    const auto end64 = zip.size();
    zip += "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
           little_endian(0, 8) + little_endian(1, 8) + little_endian(1, 8) +
           little_endian(entry.size(), 8) + little_endian(offset, 8);
    zip += "PK\x06\x07" + little_endian(0, 4) + little_endian(end64, 8) + little_endian(1, 4);
  }
  return zip + "PK\x05\x06" + little_endian(0, 4) + little_endian(1, 2) + little_endian(1, 2) +
         little_endian(zip64 ? 0xffffffff : entry.size(), 4) +
         little_endian(zip64 ? 0xffffffff : offset, 4) + little_endian(0, 2);
}

inline std::string safetensors(std::size_t data_bytes) {
  const auto half = std::to_string(data_bytes / 2), all = std::to_string(data_bytes);
  const std::string header = R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[)" +
                             half + R"(],"data_offsets":[0,)" + half +
                             R"(]},"b":{"dtype":"U8","shape":[)" + half + R"(],"data_offsets":[)" +
                             half + "," + all + "]}}  ";
  return little_endian(header.size(), 8) + header + std::string(data_bytes, 'w');
}

// What pickle protocol 4 makes of the storage_data of these shards, as far as strings go.
inline std::string dcp_metadata(const std::vector<std::string>& shards) {
  std::string pickle =
      std::string("\x80\x04\x95", 3) + little_endian(99, 8) + "\x8c\x0cstorage_data\x94}\x94(";
  for (const auto& shard : shards)
    pickle += "\x8c\x0drelative_path\x94\x8c" + std::string(1, static_cast<char>(shard.size())) +
              shard + "\x94\x8c\x06offset\x94K" + std::string(1, '\0');
  return pickle + "u.";
}

inline void write_dcp(const TemporaryDirectory& directory, const std::string& name, int ranks = 3) {
  std::vector<std::string> shards;
  for (int rank = 0; rank < ranks; ++rank) {
    shards.push_back("__" + std::to_string(rank) + "_0.distcp");
    directory.write(name + "/" + shards.back(), zip_archive("one") + zip_archive("two"));
  }
  directory.write(name + "/.metadata", dcp_metadata(shards));
}

inline void truncate(const TemporaryDirectory& directory, const std::string& file,
                     std::uintmax_t lost_bytes) {
  const auto path = directory.path(file);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - lost_bytes);
}

inline void remove(const TemporaryDirectory& directory, const std::string& file) {
  std::filesystem::remove_all(directory.path(file));
}

}  // namespace acrf
