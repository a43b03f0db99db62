// What counts as a secret in a command line: names of options and variables whose value is secret, and texts with the
// shape of a known kind of token. Also used inside other people's programs: nothing here allocates, throws or locks,
// and the time is linear in the length of the text.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpuprof::inline base {

// Whether the value of an option, variable or header called `name` is a secret: `--api-key`, `--wandb-key`, `HF_TOKEN`, `dbPassword`,
// `Authorization`, but not `--max-tokens`, `--tokenizer`, `--author` or `--password-file`. Leading dashes are ignored.
bool names_a_secret(std::string_view name) noexcept;

// Where the first token of a known shape (Hugging Face, GitHub, GitLab, OpenAI, Slack, Google, npm, PyPI, Stripe,
// SendGrid, Vault, DigitalOcean, AWS key id, JWT) begins in `run`, a text of letters, digits and "_.-"; run.size() if there is none.
std::size_t find_token(std::string_view run) noexcept;

// Whether `text` begins with a text shaped like an AWS secret access key: exactly 40 characters of base64 that change
// between upper case, lower case and digits as often as random text does; words and paths change less.
bool begins_with_aws_secret(std::string_view text) noexcept;

}  // namespace gpuprof::base
