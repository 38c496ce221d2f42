// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/munge.h"

#include <munge.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "core/text.h"

namespace acrf {
namespace {

using Context = std::unique_ptr<munge_ctx, decltype(&munge_ctx_destroy)>;

Context make_context(const std::string& socket) {
  Context context(munge_ctx_create(), munge_ctx_destroy);
  if (!context) return context;
  if (!socket.empty()) munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket.c_str());
  munge_ctx_set(context.get(), MUNGE_OPT_UID_RESTRICTION, ::getuid());
  return context;
}

Error munge_error(const char* doing, munge_err_t code) {
  return {ErrorCode::kUnavailable,
          std::string(doing) + " a munge credential: " + munge_strerror(code)};
}

}  // namespace

Seals munge_seals(const std::string& socket) {
  const auto seal = [socket](const std::string& text) -> Result<std::string> {
    const auto context = make_context(socket);
    char* credential = nullptr;
    const auto code =
        munge_encode(&credential, context.get(), text.data(), static_cast<int>(text.size()));
    const std::unique_ptr<char, decltype(&std::free)> owner(credential, std::free);
    if (code != EMUNGE_SUCCESS || !credential) return munge_error("make", code);
    return std::string(credential);
  };
  const auto open = [socket](const std::string& credential) -> Result<SealedText> {
    const auto context = make_context(socket);
    void* text = nullptr;
    int size = 0;
    uid_t user = 0;
    gid_t group = 0;
    const auto code = munge_decode(credential.c_str(), context.get(), &text, &size, &user, &group);
    const std::unique_ptr<void, decltype(&std::free)> owner(text, std::free);
    if (code != EMUNGE_SUCCESS) return munge_error("open", code);
    const auto length = static_cast<std::size_t>(size);
    return SealedText{text ? std::string(static_cast<const char*>(text), length) : "", user};
  };
  return {seal, open};
}

std::string munge_socket_in(const std::string& auth_info) {
  for (auto word : split(auth_info, ','))
    if (word = trim(word); take_prefix(word, "socket=")) return std::string(word);
  return "";
}

}  // namespace acrf
