// SPDX-License-Identifier: GPL-2.0-or-later
// Every operation of hub/openapi.json, whoever adds one, under those who ask badly: what it needs is
// what its `security` says, and every answer is one that it describes.
#include <gmock/gmock.h>
#include <poll.h>

#include <fstream>

#include "unit/hub_fixture.h"

namespace acrf::hub {
namespace {

using nlohmann::json;

struct Operation {
  std::string method, path;  // with what stands for {name} put in
  json described;
  bool has(const std::string& scheme) const {
    for (const auto& way : described.value("security", json::array()))
      if (way.contains(scheme)) return true;
    return false;
  }
  bool is_open() const { return described.value("security", json::array()).empty(); }
  bool is_report() const { return !is_open() && !has("token"); }
  bool is_post() const { return method == "post"; }
  std::string name() const { return method + " " + path; }
};

class HubEndpoints : public HubApi {
 protected:
  static std::vector<Operation> operations() {
    const auto described = json::parse(std::ifstream(ACRF_SOURCE "/hub/openapi.json"));
    const std::pair<std::string, std::string> examples[] = {
        {"{name}", "n1"}, {"{uuid}", "GPU-1"}, {"/incidents/{id}", "/incidents/n3-1"},
        {"/jobs/{id}", "/jobs/7"}};
    std::vector<Operation> all;
    for (const auto& [pattern, methods] : described["paths"].items()) {
      auto path = pattern;
      for (const auto& [hole, example] : examples)
        if (const auto at = path.find(hole); at != std::string::npos)
          path.replace(at, hole.size(), example);
      EXPECT_EQ(path.find('{'), std::string::npos) << path << " needs an example";
      for (const auto& [method, operation] : methods.items())
        if (method == "get" || method == "post") all.push_back({method, path, operation});
    }
    return all;
  }

  // Its status; 0: the connection was closed. Of a feed, the headers only.
  int ask(const Operation& one, const httplib::Headers& headers, const std::string& body = "{}",
          const std::string& query = "") {
    auto& client = http();
    const auto path = one.path + query;
    int status = 0;
    const auto reply =
        one.is_post()
            ? client.Post(path, headers, body, "application/json")
            : client.Get(
                  path, headers,
                  [&](const httplib::Response& head) {
                    status = head.status;
                    return head.get_header_value("Content-Type") != "text/event-stream";
                  },
                  [](const char*, std::size_t) { return true; });
    if (reply) status = reply->status;
    EXPECT_TRUE(status == 0 || one.described["responses"].contains(std::to_string(status)))
        << one.name() << query << ": status " << status << " is not described";
    return status;
  }
  static httplib::Headers bearer(const std::string& token) {
    return {{"Authorization", "Bearer " + token}};
  }
  // Something that lets the body be looked at.
  httplib::Headers allowed(const Operation& one, const std::string& body) const {
    if (!one.is_report()) return admin();
    return {{"Authorization", "Munge 0 acrf-report n1 " + to_hex(sha256(body))}};
  }
};

TEST_F(HubEndpoints, AreAllThere) {
  const auto all = operations();
  EXPECT_GE(all.size(), 20u);
  EXPECT_GE(std::count_if(all.begin(), all.end(), [](const auto& one) { return one.is_post(); }),
            3);
}

TEST_F(HubEndpoints, RefuseMissingWrongExpiredAndTooWeakCredentials) {
  for (const auto& one : operations()) {
    // Connections in a test are from this host: another name for it stands for another host.
    const auto missing = ask(one, {{"Host", "hub.example"}});
    if (one.is_open()) {
      EXPECT_EQ(missing, 200) << one.name();
      continue;
    }
    EXPECT_TRUE(missing == 401 || missing == 403) << one.name() << " " << missing;
    EXPECT_EQ(ask(one, bearer("acrf_wrong")), 401) << one.name();
    EXPECT_EQ(ask(one, bearer(expired_)), 401) << one.name();
    EXPECT_EQ(ask(one, {{"Authorization", "Basic dXNlcjpwYXNz"}}), 401) << one.name();
    EXPECT_EQ(ask(one, {{"Authorization", "Munge nonsense"}}), 401) << one.name();
    if (!one.is_post()) continue;
    EXPECT_EQ(ask(one, {}), 401) << one.name() << ": this host alone is no credential";
    const auto weak = ask(one, bearer(reader_));
    EXPECT_EQ(weak, one.is_report() ? 401 : 403) << one.name();
    const auto user = ask(one, {{"Authorization", "Munge 1000 acrf-action " + to_hex(sha256("{}"))}});
    EXPECT_TRUE(user == 401 || user == 403) << one.name() << " " << user;
  }
  EXPECT_TRUE(acts_.empty());
}

TEST_F(HubEndpoints, RefuseBodiesThatAreTooLargeOrMalformed) {
  const std::string large(5'000'000, ' ');
  const std::string malformed[] = {"",         "{",          "[]",       "7",       "null",
                                   "\xff\xfe", R"({"a":1})", R"("text")", R"({"node":7})",
                                   std::string(100'000, '['), R"({"items":{}})"};
  for (const auto& one : operations()) {
    if (!one.is_post()) continue;
    const auto too_large = ask(one, allowed(one, large), large);
    EXPECT_TRUE(too_large == 413 || too_large == 0) << one.name() << " " << too_large;
    for (const auto& body : malformed) {
      const auto status = ask(one, allowed(one, body), body);
      // 404: this hub has no simulator to steer.
      EXPECT_TRUE(status == 400 || (status == 404 && one.path == "/v1/sim"))
          << one.name() << " " << status << ": " << body.substr(0, 40);
    }
  }
  EXPECT_TRUE(acts_.empty());
  EXPECT_EQ(status("/v1/stats"), 200) << "and goes on";
}

TEST_F(HubEndpoints, RefuseNumbersThatAreNone) {
  for (const auto& one : operations())
    for (const auto& parameter : one.described.value("parameters", json::array())) {
      if (parameter["in"] != "query" || parameter["schema"].value("type", "") != "integer")
        continue;
      const auto name = parameter["name"].get<std::string>();
      const std::string needed = one.path.ends_with("/history") ? "?metric=power_w&" : "?";
      for (const char* value : {"x", "-1", "1e99", "99999999999999999999999"})
        EXPECT_EQ(ask(one, admin(), "", needed + name + "=" + value), 400)
            << one.name() << " " << name << "=" << value;
    }
}

TEST_F(HubEndpoints, LeaveClientsThatSendSlowly) {
  limits_.connection.request = std::chrono::milliseconds(500);
  limits_.threads = 64;
  restart();
  std::vector<std::pair<std::string, UniqueFd>> slow;
  for (const auto& one : operations()) {
    // Half of the headers, and half of a body.
    const auto line = (one.is_post() ? "POST " : "GET ") + one.path + " HTTP/1.1\r\nHost: localhost\r\n";
    const auto body = "Authorization: Bearer " + admin_ + "\r\nContent-Length: 100\r\n\r\n{";
    for (const auto& text : {line + "X-Slow: ", one.is_post() ? line + body : line + "X"}) {
      auto fd = connect();
      ASSERT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(text.size()));
      slow.emplace_back(one.name(), std::move(fd));
    }
  }
  for (const auto& [name, fd] : slow) {
    char buffer[4096];
    ssize_t n = 1;
    pollfd ended{fd.get(), POLLIN, 0};
    while (n > 0 && ::poll(&ended, 1, 20'000) == 1) n = ::recv(fd.get(), buffer, sizeof buffer, 0);
    EXPECT_LE(n, 0) << name << ": the connection stays open";
  }
  EXPECT_EQ(status("/v1/stats"), 200) << "and goes on";
  EXPECT_TRUE(acts_.empty());
}

}  // namespace
}  // namespace acrf::hub
