package secrets_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// A form is an example of a rule: the shortest text that it finds. The secret in it is cut by a character for the near miss.
type form struct{ rule, before, secret, after string }

// forms are put together from parts, so that no file has a text that a host takes for a secret.
func forms() []form {
	const word, b64 = alnum + "_-", alnum + "+/"
	lowNum := lower + digit
	a := func(n int) string { return fake(alnum, n+7, n) }
	h := func(n int) string { return fake(hexes, n+3, n) }
	return []form{
		{"anthropic-oauth-token", "", "sk-" + "ant-oat01-" + a(24), ""}, {"openai-key", "", "sk-" + "proj-" + a(32), ""}, {"openrouter-key", "", "sk-" + "or-v1-" + h(48), ""},
		{"sk-key", "", "sk" + "-" + a(32), ""}, {"groq-key", "", "gs" + "k_" + a(40), ""}, {"xai-key", "", "xa" + "i-" + a(64), ""}, {"replicate-token", "", "r8" + "_" + a(32), ""},
		{"fireworks-key", "", "fw" + "_" + a(22), ""}, {"langsmith-key", "", "lsv2" + "_pt_" + h(32) + "_" + h(10), ""}, {"pinecone-key", "", "pc" + "sk_" + a(40), ""},
		{"elevenlabs-key", "", "sk" + "_" + h(48), ""}, {"tavily-key", "", "tv" + "ly-" + a(20), ""}, {"e2b-key", "", "e2b" + "_" + h(40), ""}, {"resend-key", "", "re" + "_" + a(8) + "_" + a(20), ""},
		{"huggingface-token", "", "hf" + "_" + a(30), ""}, {"google-oauth-client-secret", "", "GOC" + "SPX-" + a(28), ""}, {"google-oauth-token", "", "ya" + "29." + a(40), ""},
		{"google-refresh-token", "", "1/" + "/0" + a(40), ""}, {"google-api-key", "", "AQ." + "Ab" + a(40), ""}, {"azure-storage-key", "AccountKey=", fake(b64, 1, 86) + "==", ""},
		{"azure-shared-access-key", "SharedAccessKey=", fake(b64, 2, 43) + "=", ""}, {"azure-sas-signature", "https://x/y?sv=1&sig=", fake(b64, 3, 40) + "%3D", ""},
		{"azure-devops-token", "", a(76) + "AZ" + "DO" + a(4), ""}, {"gitlab-token", "", "gl" + "oas-" + a(20), ""}, {"github-token", "", "gh" + "u_" + a(36), ""},
		{"github-fine-grained-token", "", "github" + "_pat_" + a(22) + "_" + a(40), ""}, {"atlassian-token", "", "AT" + "BB" + a(24), ""}, {"docker-token", "", "dckr" + "_oat_" + a(27), ""},
		{"npm-token", "", "np" + "m_" + a(36), ""}, {"crates-token", "", "ci" + "o" + a(32), ""}, {"nuget-key", "", "oy" + "2" + fake(lowNum, 4, 43), ""}, {"pypi-token", "", "pypi" + "-AgE" + a(50), ""},
		{"slack-token", "", "xo" + "xp-" + fake(digit, 5, 12) + "-" + a(16), ""}, {"slack-workflow-hook", "https://hooks." + "slack.com/triggers/", a(24), ""},
		{"discord-bot-token", "discord ", "M" + a(23) + "." + a(6) + "." + a(27), ""}, {"discord-webhook", "https://discord.com/api/" + "webhooks/" + fake(digit, 6, 18) + "/", a(50), ""},
		{"teams-webhook", "https://x.webhook" + ".office.com/webhookb2/a@b/IncomingWebhook/", h(32) + "/" + h(36), ""}, {"telegram-bot-token", "", fake(digit, 7, 8) + ":A" + "A" + a(33), ""},
		{"stripe-key", "", "rk" + "_live_" + a(16), ""}, {"stripe-webhook-secret", "", "wh" + "sec_" + a(24), ""}, {"square-token", "", "sq0" + "csp-" + a(22), ""}, {"square-access-token", "", "EA" + "AA" + a(56), ""},
		{"braintree-token", "", "access_token" + "$production$" + fake(lowNum, 8, 16) + "$" + h(32), ""}, {"twilio-key", "", "S" + "K" + h(32), ""}, {"mailgun-key", "", "ke" + "y-" + h(32), ""},
		{"sendgrid-key", "", "S" + "G." + a(16) + "." + a(32), ""}, {"supabase-secret-key", "", "sb" + "_secret_" + a(24), ""}, {"supabase-token", "", "sb" + "p_" + h(40), ""}, {"netlify-token", "", "nf" + "p_" + a(36), ""},
		{"vercel-token", "", "vc" + "p_" + a(24), ""}, {"cloudflare-token", "", "cf" + "ut_" + a(40), ""}, {"digitalocean-token", "", "dor" + "_v1_" + h(64), ""}, {"heroku-key", "", "HR" + "KU-" + a(36), ""},
		{"flyio-token", "", "fo1" + "_" + a(43), ""}, {"tailscale-key", "", "ts" + "key-api-" + a(8) + "-" + a(20), ""}, {"vault-token", "", "hv" + "b." + a(24), ""}, {"terraform-token", "", a(14) + ".atl" + "asv1." + a(60), ""},
		{"pulumi-token", "", "pu" + "l-" + h(40), ""}, {"doppler-token", "", "dp." + "ct." + a(40), ""}, {"databricks-token", "", "da" + "pi" + h(32), ""}, {"grafana-token", "", "gl" + "sa_" + a(32) + "_" + h(8), ""},
		{"newrelic-key", "", "NR" + "AK-" + a(19), ""}, {"sentry-token", "", "sntr" + "yu_" + a(40), ""}, {"posthog-key", "", "ph" + "x_" + a(40), ""}, {"linear-key", "", "lin" + "_oauth_" + a(32), ""},
		{"notion-token", "", "nt" + "n_" + a(43), ""}, {"figma-token", "", "fi" + "gd_" + a(36), ""}, {"airtable-token", "", "pa" + "t" + a(14) + "." + h(64), ""}, {"postman-key", "", "PM" + "AK-" + h(24) + "-" + h(34), ""},
		{"dropbox-token", "", "sl" + "." + a(100), ""}, {"shopify-token", "", "shp" + "ss_" + h(32), ""}, {"facebook-token", "", "EA" + "A" + a(80), ""}, {"planetscale-token", "", "pscale" + "_oauth_" + a(32), ""},
		{"neon-key", "", "na" + "pi_" + fake(lowNum, 9, 60), ""}, {"sourcegraph-token", "", "sg" + "p_" + h(40), ""}, {"onepassword-token", "", "ops_" + "eyJ" + a(100), ""}, {"artifactory-token", "", "AK" + "Cp" + a(59), ""},
		{"json-web-token", "", "ey" + "J" + a(10) + ".ey" + a(10) + "." + a(16), ""}, {"aws-access-key", "", "AS" + "IA" + fake(upper+"234567", 10, 16), ""},
		{"wireguard-private-key", "PrivateKey = ", fake(b64, 11, 42) + "A=", ""}, {"kubeconfig-key", "client-key-data: ", a(100), "\n"}, {"docker-auth", `{"auth": "`, fake(alnum, 12, 12), `"}`},
		{"ethereum-private-key", "private_key: ", h(64), ""}, {"pgpass-line", "db.internal:5432:app:me:", "tr0ub", ""}, {"sql-password", "CREATE USER a IDENTIFIED BY '", "tr0ub", "'"},
		{"private-key", "", "-----BEGIN EC PRIV" + "ATE KEY-----\n" + a(64) + "\n-----END EC PRIV" + "ATE KEY-----", ""}, {"private-key-part", "", "-----BEGIN EC PRIV" + "ATE KEY-----\n" + a(63), ""},
		{"putty-private-key", "", "Private-" + "Lines: 1\n" + a(64), "\n"}, {"mailchimp-key", "", h(32) + "-u" + "s1", ""},
	}
}

// TestOwnForms checks an example of each rule that is not gitleaks': the secret is found, in a sentence, in JSON and between
// quotes. Without its last character or behind a letter it is none of that rule.
func TestOwnForms(t *testing.T) {
	scanner := secrets.New(nil, nil)
	var rules []string
	for _, f := range forms() {
		rules = append(rules, f.rule)
		for place, text := range map[string]string{
			"alone": f.before + f.secret + f.after, "between quotes": "(\"" + f.before + f.secret + f.after + "\")", "in a sentence": "It is " + f.before + f.secret + f.after + " now.",
		} {
			if strings.HasPrefix(f.rule, "pgpass") && place != "alone" {
				continue // a line of its own
			}
			if got := secretsIn(text, scanner.Text([]byte(text))); !strings.Contains(got, f.secret) {
				t.Errorf("%s %s: found %q", f.rule, place, got)
			}
		}
		if got := secrets.Spelled(scanner, f.before+f.secret+f.after); !slices.Contains(got, f.rule) {
			t.Errorf("%s: found by %q", f.rule, got)
		}
		end := len(f.secret) - 1
		if strings.HasSuffix(f.secret, "=") || strings.HasSuffix(f.secret, "-u"+"s1") || strings.HasSuffix(f.secret, "-----") {
			end-- // the end is part of the form
		}
		if got := secrets.Spelled(scanner, f.before+f.secret[:end]+f.after); slices.Contains(got, f.rule) && f.rule != "putty-private-key" {
			t.Errorf("%s without its end: found by %q", f.rule, got)
		}
		if f.before == "" && !strings.HasPrefix(f.rule, "p") {
			if got := secrets.Spelled(scanner, "x"+f.secret+f.after); slices.Contains(got, f.rule) {
				t.Errorf("%s within a word: found by %q", f.rule, got)
			}
		}
	}
	for _, id := range secrets.OwnPatterns() {
		if !slices.Contains(rules, id) {
			t.Errorf("the rule %s has no example", id)
		}
	}
}

// TestRepeated checks that forms that only repeat a character, as in documentation, are not secrets.
func TestRepeated(t *testing.T) {
	scanner := secrets.New(nil, nil)
	for _, f := range forms() {
		if f.before != "" || strings.Contains(f.rule, "private-key") {
			continue
		}
		same := []byte(f.secret)
		for i := 8; i < len(same); i++ {
			if strings.IndexByte(alnum, same[i]) >= 0 {
				same[i] = 'a'
			}
		}
		if got := secrets.Spelled(scanner, string(same)); slices.Contains(got, f.rule) {
			t.Errorf("%s: %q is found", f.rule, same)
		}
	}
}
