// SPDX-License-Identifier: GPL-2.0-or-later
// What most tests include and takes a compiler long to read: compiled once with `make PCH=.gch`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>
