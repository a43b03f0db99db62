// Command lines with secrets and what is kept of them; then those of every day, of which nothing may be lost.
#include "core/base/text/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/text/secrets.h"
#include "tests/unit/processor_time.h"

namespace gpuprof {
namespace {

using Words = std::vector<std::string>;

std::string shown(const Words& words, std::size_t capacity = 4096) {
    std::string raw;
    for (const std::string& word : words) raw += word + '\0';
    std::string text(capacity, '\0');
    text.resize(write_command(raw, text.data(), capacity));
    return text;
}

// In parts, so that no scanner of repositories takes them for real ones.
const std::string kMixed = "aB3dE5gH7jK9mN1pQ3sT5v", kHex = "0123456789abcdef0123456789abcdef";
const Words kServiceTokens = {"sk_" + ("live_" + kMixed),
                              "rk_" + ("live_" + kMixed),
                              "pypi-" + ("AgEIcHlwaS5vcmc" + kMixed + kMixed),
                              "SG." + (kMixed + "." + kMixed + kMixed.substr(1)),
                              "hvs." + ("CAESI" + kMixed + "-_" + kMixed),
                              "ya29." + ("a0Af" + kMixed + "-" + kMixed),
                              "dop_" + ("v1_" + kHex + kHex),
                              "xapp-" + ("1-A0123456789-1234567890123-" + kHex)};

struct Case {
    Words command;
    std::string expected;
};

const std::string kHf = "hf_" + std::string("AbCdEfGhIjKlMnOpQrStUvWxYz012345");
const std::string kJwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
const std::string kAwsSecret = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYab";

TEST(CommandLine, LosesSecrets) {
    const Case kCases[] = {
        // options and variables by name
        {{"run", "--token", "abc", "--Password=x", "KEY=1", "API_KEY=2", "last"},
         "run --token *** --Password=*** KEY=1 API_KEY=*** last"},
        {{"--secret", "--token=a", "b"}, "--secret --token=*** b"},
        {{"t", "--auth", "X", "--api-key", "Y", "--apiKey=Z", "-password", "W"},
         "t --auth *** --api-key *** --apiKey=*** -password ***"},
        {{"t", "--password=a b;c&d"}, "t --password=***"},
        {{"env", "PGPASSWORD=a b", "MYSQL_PWD=x", "HF_TOKEN=x", "WANDB_API_KEY=0123", "PWD=/data/me", "t"},
         "env PGPASSWORD=*** MYSQL_PWD=*** HF_TOKEN=*** WANDB_API_KEY=*** PWD=/data/me t"},
        {{"t", "+trainer.hf_token=x", "--set", "db.dbPassword=y", "-Dauth.secret=z", "API_TOKEN_PROD=w"},
         "t +trainer.hf_token=*** --set db.dbPassword=*** -Dauth.secret=*** API_TOKEN_PROD=***"},
        {{"t", "--env=PASSWORD=a&b"}, "t --env=PASSWORD=***"},
        {{"docker", "run", "-e", "OPENAI_KEY=x", "--build-arg", "NPM_TOKEN=y", "i"},
         "docker run -e OPENAI_KEY=*** --build-arg NPM_TOKEN=*** i"},
        {{"t", "--user-token", "x", "--slack_bot_token", "y", "--passphrase", "z", "--jwt", "w"},
         "t --user-token *** --slack_bot_token *** --passphrase *** --jwt ***"},
        // the string of a shell
        {{"bash", "-c", "TOKEN=x python train.py --lr 1"}, "bash -c TOKEN=*** python train.py --lr 1"},
        {{"bash", "-lc", "cd /x && HF_TOKEN='a b' python t.py"}, "bash -lc cd /x && HF_TOKEN=*** python t.py"},
        {{"bash", "-c", "export API_KEY=\"a;b\"; run --token 'x y' z"},
         "bash -c export API_KEY=***; run --token *** z"},
        {{"ssh", "host", "cd /x && env SECRET=y train --auth=z w"},
         "ssh host cd /x && env SECRET=*** train --auth=*** w"},
        {{"sh", "-c", "curl -H 'Authorization: Bearer X' https://h/x"},
         "sh -c curl -H 'Authorization: ***' https://h/x"},
        {{"sh", "-c", "curl -H \"X-Api-Key: X\" -u me:pw https://h/x"},
         "sh -c curl -H \"X-Api-Key: ***\" -u me:*** https://h/x"},
        {{"sh", "-c", "curl -H Authorization:\\ Bearer\\ X y"}, "sh -c curl -H Authorization:*** y"},
        // headers
        {{"curl", "-H", "Authorization: Bearer X Y", "z"}, "curl -H Authorization: *** z"},
        {{"curl", "-HAuthorization: Bearer X", "z"}, "curl -HAuthorization: *** z"},
        {{"curl", "--header=PRIVATE-TOKEN: X", "z"}, "curl --header=PRIVATE-TOKEN: *** z"},
        {{"curl", "--header", "Cookie: session=1; b=2"}, "curl --header Cookie: ***"},
        {{"t", "Authorization:", "Bearer", "X", "y"}, "t Authorization: *** *** y"},
        {{"t", "note", "Bearer", "X", "y"}, "t note Bearer *** y"},
        // who logs in
        {{"git", "clone", "https://user:pw@host/x.git"}, "git clone https://***@host/x.git"},
        {{"git", "clone", "https://oauth@host/x"}, "git clone https://***@host/x"},
        {{"t", "postgres://u:p/w@db:5432/x", "redis://:pw@h:1/0"}, "t postgres://***@db:5432/x redis://***@h:1/0"},
        {{"t", "--db=mysql://u:p@ss@h/x?y=z"}, "t --db=mysql://***@h/x?y=z"},
        {{"t", "https://h/x?api_key=abc&b=2", "https://h/?b=1&token=abc#c"},
         "t https://h/x?api_key=***&b=2 https://h/?b=1&token=***#c"},
        {{"curl", "-u", "a:b", "--user", "a:b", "--user=a:b", "--proxy-user", "c:d"},
         "curl -u a:*** --user a:*** --user=a:*** --proxy-user c:***"},
        // programs with a letter for it
        {{"mysql", "-uroot", "-psecret", "-h", "db"}, "mysql -uroot -p*** -h db"},
        {{"sshpass", "-p", "x", "ssh", "h"}, "sshpass -p *** ssh h"},
        {{"sh", "-c", "mysql -psecret db"}, "sh -c mysql -p*** db"},
        {{"redis-cli", "-a", "x", "ping"}, "redis-cli -a *** ping"},
        // tokens by their shape
        {{"t", kHf, "x=" + kHf, "prefix-" + kHf}, "t *** x=*** prefix-***"},
        {{"t", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "gho_abcdefghijklmnop", "github_pat_11ABC_defghijklmnopqr"},
         "t *** *** ***"},
        {{"t", "sk-proj-abc1defghijklmnop_qr", "xoxb-123456789012-abc", "glpat-abcdefghij1234567890"}, "t *** *** ***"},
        {{"t", "AKIAIOSFODNN7EXAMPLE", kAwsSecret, "y"}, "t *** *** y"},
        {{"t", kJwt, "y"}, "t *** y"},
        {{"t", "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "y"}, "t *** y"},
        {{"bash", "-c", "echo " + kHf + " | login"}, "bash -c echo *** | login"},
        // Python and JSON
        {{"python", "-c", "import x; x.login(token=\"abc\", n=1)"}, "python -c import x; x.login(token=*** n=1)"},
        {{"python", "-c", "password = \"x\"; run()"}, "python -c password = ***; run()"},
        {{"python", "-c", "os.environ['HF_TOKEN'] = 'x'; os.environ.setdefault(\"API_KEY\", \"y\")"},
         "python -c os.environ['HF_TOKEN'] = ***; os.environ.setdefault(\"API_KEY\", ***)"},
        {{"t", "{\"password\": \"a b\", \"lr\": 1}"}, "t {\"password\": ***, \"lr\": 1}"},
        {{"t", "{\"api_key\":\"x\",\"lr\":1}"}, "t {\"api_key\":***,\"lr\":1}"},
    };
    for (const Case& each : kCases) EXPECT_EQ(shown(each.command), each.expected);
}

// Wherever a token stands: alone, as a value, quoted, in a URL, in the string of a shell.
TEST(CommandLine, LosesTokensOfEveryService) {
    for (const std::string& token : kServiceTokens) {
        EXPECT_EQ(shown({"t", token, "y"}), "t *** y");
        EXPECT_EQ(shown({"t", "x=" + token, "--x=" + token, "a:" + token}), "t x=*** --x=*** a:***");
        EXPECT_EQ(shown({"bash", "-c", "echo '" + token + "' | login"}), "bash -c echo '***' | login");
        EXPECT_EQ(shown({"curl", "https://h/" + token + "/x"}), "curl https://h/***/x");
        EXPECT_EQ(shown({"t", "{\"x\": \"" + token + "\"}"}), "t {\"x\": \"***\"}");
        EXPECT_EQ(without_secrets("see " + token + ", then go on"), "see ***, then go on");
    }
    EXPECT_EQ(
        shown({"t", "--wandb-key", "x", "--openai_key=y", "ANTHROPIC_KEY=z", "+hf.key=w", "{\"wandb_key\": \"x\"}"}),
        "t --wandb-key *** --openai_key=*** ANTHROPIC_KEY=*** +hf.key=*** {\"wandb_key\": ***}");
}

TEST(CommandLine, KeepsWhatIsOrdinary) {
    const Words kCommands[] = {
        {"torchrun", "--nproc-per-node", "8", "train.py", "--max-tokens", "128", "--token-count", "5"},
        {"python", "-u", "train.py", "--tokenizer", "gpt2", "--passes", "3", "--author", "x", "--keep", "--lr=1e-4"},
        {"t", "--num_tokens=4096", "--tokens-per-batch", "8192", "--eos_token", "</s>", "--pad-token-id=0"},
        {"t", "--eos-token", "x", "--special-token=<a>", "--bos_token=<s>", "--maxtoken", "5", "--next-token", "7"},
        {"t", "--no-auth", "train.py", "--auth-type", "basic", "--use-auth-token", "--low-pass", "5"},
        {"t", "--password-file", "/run/x", "--token-path=/x", "--key", "name", "--sort-key=loss", "--keyboard", "us"},
        {"t", "--data", "s3://bucket/data/x.parquet", "--master", "tcp://10.0.0.1:29500", "https://h:80/a@b"},
        {"bash", "-c", "cd /x && A=1 python train.py --name 'a b' | tee log:1"},
        {"docker", "run", "--user", "1000:1000", "-p", "8080:80", "-v", "/a:/b", "image:tag"},
        {"git", "clone", "git@github.com:a/b.git"},
        {"git", "clone", "ssh://git@github.com/a/b.git"},
        {"ssh", "me@host", "nvidia-smi"},
        {"t", "--commit", "0123456789abcdef0123456789abcdef01234567", "--sk-learn", "sk-learn-intelex-accelerated"},
        {"t", "hf_hub_download", "hf_transfer", "data/Imagenet1k/train/shard0001/file00012", "asking-for-a-task"},
        {"t", "pypi-mirror", "--index=pypi-mirror-of-the-cluster", "SG.txt", "SG.model.layers.0.weight", "hvs.py",
         "ya29.log"},
        {"t", "hvs.training.models.encoder", "hvs.a_module_with_a_rather_long_name", "xapp-config-template-of-ours"},
        {"t", "sk_live_demo", "dop_v1_test", "sk_learn", "dop_v1_0123456789abcdef", "SG.0123456789abcdef01.x",
         "xapp-1-2"},
        {"t", "--wandb-project", "x", "--wandb-key-file", "y", "--hf-home", "z", "--wandb", "on", "--key-wandb", "u"},
        {"python", "-c", "import torch; x = {'lr': 1}; print(x['lr'] == 1, torch.nn.Linear(1, 2))"},
        {"python", "-m", "pkg.tokenizers", "--monkey", "--bypass", "no", "--compass=1", "token", "x"},
        {"nsys", "profile", "-t", "cuda,nvtx", "-o", "/tmp/a b", "python", "train.py"},
        {"t", "model.tokenizer.path=/x", "model.max_token_len=5", "++data.key=image", "::token::", "a=b=c"},
    };
    for (const Words& command : kCommands) {
        std::string plain;
        for (const std::string& word : command) plain += (plain.empty() ? "" : " ") + word;
        EXPECT_EQ(shown(command), plain);
        EXPECT_EQ(without_secrets(plain), plain);
    }
}

TEST(CommandLine, LeavesOutWholeArguments) {
    EXPECT_EQ(shown({"one", "two", "three"}, 8), "one two");
    EXPECT_EQ(shown({"one", "--token=a", "b"}, 12), "one");  // the stars do not fit
    EXPECT_EQ(shown({}), "");
}

TEST(CommandLine, OfOneTextLosesSecrets) {
    EXPECT_EQ(without_secrets("TOKEN=x python t.py --api-key y -u a:b https://u:p@h/x " + kHf),
              "TOKEN=*** python t.py --api-key *** -u a:*** https://***@h/x ***");
    EXPECT_EQ(without_secrets("run --password"), "run --password");
    EXPECT_EQ(without_secrets(""), "");
}

// 16 times the text takes about 16 times as long; 256 times if the work grew with the square.
TEST(CommandLine, IsLinearOnHostileText) {
    for (const char* piece :
         {"-u \"",      "://a:", "://@", "token=\"", "a\\",   "-----", "eyJ-", "hf_",  "--token ", "Bearer ",
          "\"token\":", "A:",    "SG.",  "SG.a0",    "hvs.a", "aB",    "sk-1", "key=", "'",        "x@"}) {
        std::string few, many;
        while (few.size() < 4'000) few += piece;
        for (int i = 0; i < 16; ++i) many += few;
        auto seconds = [](const std::string& text) {
            double begun = processor_seconds();
            without_secrets(text);
            return processor_seconds() - begun;
        };
        EXPECT_LT(seconds(many), 100 * seconds(few) + 0.005) << piece;
    }
}

}  // namespace
}  // namespace gpuprof
