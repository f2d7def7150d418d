package secrets

// ownRules returns additional built-in rules, for secrets that gitleaks' rules do not find.
func ownRules() []*rule {
	rules := []*rule{
		{id: "password-assignment", kind: weak, keywords: []string{"pass", "pwd", "secret", "token", "key", "cred", "auth", "mnemonic", "_pat"}, find: findAssignment},
		{id: "url-password", kind: strong, keywords: []string{"://"}, find: findURLPassword},
		{id: "authorization-header", kind: weak, keywords: []string{"authorization", "bearer ", "x-api-key", "x-auth-token", "private-token", "x-goog-api-key", "cookie"}, find: findHeader},
		{id: "command-line-password", kind: weak, keywords: []string{"curl", "wget", "sshpass", "mysql", "docker login", "machine "}, find: findCommand},
	}
	for _, p := range ownPatterns {
		r := &rule{id: p.id, pattern: p.pattern, keywords: p.keywords, entropy: p.entropy}
		if p.id == "sql-password" || p.id == "pgpass-line" {
			r.accept = func(secret string) bool { return !isPlaceholder(secret) }
		}
		rules = append(rules, r)
	}
	return rules
}

const webTokenRule = "json-web-token"

// ownPatterns are the forms of secrets that gitleaks does not know, or finds only next to a name.
var ownPatterns = []struct {
	id       string
	pattern  string
	entropy  float64
	keywords []string
}{
	{"anthropic-oauth-token", `\b(sk-ant-(?:oat|ort|sid|api|admin)\d\d-[\w-]{24,220})`, 3, []string{"sk-ant-"}},
	{"openai-key", `\b(sk-(?:proj|svcacct|admin|None)-[\w-]{32,220})`, 3.5, []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-"}},
	{"openrouter-key", `\b(sk-or-(?:v1-)?[a-f0-9]{48,64})\b`, 3, []string{"sk-or-"}},
	{"sk-key", `\b(sk-[A-Za-z0-9]{32,64})\b`, 3.2, []string{"sk-"}},
	{"groq-key", `\b(gsk_[A-Za-z0-9]{40,64})\b`, 3, []string{"gsk_"}},
	{"xai-key", `\b(xai-[A-Za-z0-9]{64,96})\b`, 3, []string{"xai-"}},
	{"replicate-token", `\b(r8_[A-Za-z0-9]{32,44})\b`, 3, []string{"r8_"}},
	{"fireworks-key", `\b(fw_[A-Za-z0-9]{22,44})\b`, 3.5, []string{"fw_"}},
	{"langsmith-key", `\b(lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10})\b`, 3, []string{"lsv2_pt_", "lsv2_sk_"}},
	{"pinecone-key", `\b(pcsk_[\w-]{40,90})`, 3.5, []string{"pcsk_"}},
	{"elevenlabs-key", `\b(sk_[a-f0-9]{48})\b`, 3, []string{"sk_"}},
	{"tavily-key", `\b(tvly-[\w-]{20,64})`, 3.3, []string{"tvly-"}},
	{"e2b-key", `\b(e2b_[a-f0-9]{40})\b`, 3, []string{"e2b_"}},
	{"resend-key", `\b(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32})\b`, 3.5, []string{"re_"}},
	{"huggingface-token", `\b(hf_[A-Za-z0-9]{30,44})\b`, 3, []string{"hf_"}},
	{"google-oauth-client-secret", `\b(GOCSPX-[\w-]{28})`, 3, []string{"gocspx-"}},
	{"google-oauth-token", `\b(ya29\.[\w-]{40,})`, 3.5, []string{"ya29."}},
	{"google-refresh-token", `\b(1//0[\w-]{40,120})`, 3.5, []string{"1//0"}},
	{"google-api-key", `\b(AQ\.Ab[\w-]{40,80})`, 3.5, []string{"aq.ab"}},
	{"azure-storage-key", `AccountKey=([A-Za-z0-9+/]{86}==)`, 3.5, []string{"accountkey="}},
	{"azure-shared-access-key", `SharedAccessKey=([A-Za-z0-9+/]{43}=)`, 3.5, []string{"sharedaccesskey="}},
	{"azure-sas-signature", `[?&;]sig=([A-Za-z0-9%+/]{40,80}(?:=|%3[Dd]))`, 3.5, []string{"sig="}},
	{"azure-devops-token", `\b([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})\b`, 3.5, []string{"azdo"}},
	{"gitlab-token", `\b(gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat|imt|agent|wt|ffct)-[\w.-]{20,300})`, 3, []string{"glpat-", "gloas-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "glwt-", "glffct-"}},
	{"github-token", `\b(gh[oprsu]_[A-Za-z0-9]{36,255})\b`, 3, []string{"gho_", "ghp_", "ghr_", "ghs_", "ghu_"}},
	{"github-fine-grained-token", `\b(github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{40,80})\b`, 3, []string{"github_pat_"}},
	{"atlassian-token", `\b(AT(?:ATT3|BB|CTT3)[A-Za-z0-9_=-]{24,220})`, 3.5, []string{"atatt3", "atbb", "atctt3"}},
	{"docker-token", `\b(dckr_(?:pat|oat)_[\w-]{27,40})`, 3, []string{"dckr_pat_", "dckr_oat_"}},
	{"npm-token", `\b(npm_[A-Za-z0-9]{36})\b`, 3, []string{"npm_"}},
	{"crates-token", `\b(cio[A-Za-z0-9]{32})\b`, 3.5, []string{"cio"}},
	{"nuget-key", `\b(oy2[a-z0-9]{43})\b`, 3, []string{"oy2"}},
	{"pypi-token", `\b(pypi-AgE[\w-]{50,})`, 3, []string{"pypi-age"}},
	{"slack-token", `\b(xox[abeoprs]-(?:[\dA-Za-z]{1,14}-){1,4}[A-Za-z0-9]{16,64})\b`, 3, []string{"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"}},
	{"slack-workflow-hook", `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{24,100})`, 3, []string{"hooks.slack.com/"}},
	{"discord-bot-token", `\b([MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40})`, 4, []string{"discord", "bot"}},
	{"discord-webhook", `discord(?:app)?\.com/api/webhooks/\d{15,21}/([\w-]{50,80})`, 3.5, []string{"/api/webhooks/"}},
	{"teams-webhook", `\.webhook\.office\.com/webhookb2/[\w@-]+/IncomingWebhook/([a-f0-9]{32}/[a-f0-9-]{36})`, 3, []string{"webhook.office.com/"}},
	{"telegram-bot-token", `\b(\d{8,10}:AA[\w-]{33})\b`, 3.5, []string{":aa"}},
	{"stripe-key", `\b((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,250})\b`, 3, []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}},
	{"stripe-webhook-secret", `\b(whsec_[A-Za-z0-9+/=]{24,64})`, 3.5, []string{"whsec_"}},
	{"square-token", `\b(sq0(?:atp|csp|idp)-[\w-]{22,43})`, 3, []string{"sq0atp-", "sq0csp-", "sq0idp-"}},
	{"square-access-token", `\b(EAAA[A-Za-z0-9_-]{56,62})\b`, 4.2, []string{"eaaa"}},
	{"braintree-token", `\b(access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32})\b`, 3, []string{"access_token$"}},
	{"twilio-key", `\b(SK[0-9a-f]{32})\b`, 3, []string{"sk"}},
	{"mailgun-key", `\b(key-[a-f0-9]{32})\b`, 3, []string{"key-"}},
	{"mailchimp-key", `\b([a-f0-9]{32}-us\d{1,2})\b`, 3, []string{"-us"}},
	{"sendgrid-key", `\b(SG\.[\w-]{16,32}\.[\w-]{32,64})`, 3.5, []string{"sg."}},
	{"supabase-secret-key", `\b(sb_secret_[\w-]{24,64})`, 3, []string{"sb_secret_"}},
	{"supabase-token", `\b(sbp_[a-f0-9]{40})\b`, 3, []string{"sbp_"}},
	{"netlify-token", `\b(nfp_[A-Za-z0-9]{36})\b`, 3, []string{"nfp_"}},
	{"vercel-token", `\b(vc[pkiar]_[A-Za-z0-9]{24,64})\b`, 3.5, []string{"vcp_", "vck_", "vci_", "vca_", "vcr_"}},
	{"cloudflare-token", `\b((?:v1\.0-[a-f0-9]{24}-[a-f0-9]{100,146})|cf(?:ut|at|k)_[A-Za-z0-9]{40,52})\b`, 3, []string{"v1.0-", "cfut_", "cfat_", "cfk_"}},
	{"digitalocean-token", `\b(do[oprt]_v1_[a-f0-9]{64})\b`, 3, []string{"doo_v1_", "dop_v1_", "dor_v1_", "dot_v1_"}},
	{"heroku-key", `\b(HRKU-[\w-]{36,66})\b`, 3, []string{"hrku-"}},
	{"flyio-token", `\b((?:fo1_[\w-]{43})|(?:fm[12][ar]?_[A-Za-z0-9+/=]{60,}))`, 3.5, []string{"fo1_", "fm1_", "fm2_", "fm1a_", "fm1r_"}},
	{"tailscale-key", `\b(tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,64})\b`, 3, []string{"tskey-"}},
	{"vault-token", `\b(hv[sbr]\.[\w-]{24,300})`, 3.5, []string{"hvs.", "hvb.", "hvr."}},
	{"terraform-token", `\b([A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70})`, 3.5, []string{".atlasv1."}},
	{"pulumi-token", `\b(pul-[a-f0-9]{40})\b`, 3, []string{"pul-"}},
	{"doppler-token", `\b(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44})\b`, 3, []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."}},
	{"databricks-token", `\b(dapi[a-f0-9]{32}(?:-\d)?)\b`, 3, []string{"dapi"}},
	{"grafana-token", `\b(gl(?:sa_[A-Za-z0-9]{32}_[a-f0-9]{8}|c_[A-Za-z0-9+/]{32,}={0,3}))`, 3, []string{"glsa_", "glc_"}},
	{"newrelic-key", `\b(NR(?:AK|II|JS|RA)-[A-Za-z0-9-]{19,40})\b`, 3, []string{"nrak-", "nrii-", "nrjs-", "nrra-"}},
	{"sentry-token", `\b(sntry[su]_[A-Za-z0-9+/=_-]{40,})`, 3, []string{"sntrys_", "sntryu_"}},
	{"posthog-key", `\b(phx_[A-Za-z0-9]{40,60})\b`, 3, []string{"phx_"}},
	{"linear-key", `\b(lin_(?:api|oauth)_[A-Za-z0-9]{32,64})\b`, 3, []string{"lin_api_", "lin_oauth_"}},
	{"notion-token", `\b((?:ntn|secret)_[A-Za-z0-9]{43,50})\b`, 3.8, []string{"ntn_", "secret_"}},
	{"figma-token", `\b(fig[dou][rh]?_[\w-]{36,60})`, 3.5, []string{"figd_", "figo_", "figu_", "figor_", "figdr_"}},
	{"airtable-token", `\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})\b`, 3, []string{"pat"}},
	{"postman-key", `\b(PMAK-[a-f0-9]{24}-[a-f0-9]{34})\b`, 3, []string{"pmak-"}},
	{"dropbox-token", `\b(sl\.(?:u\.)?[\w-]{100,})`, 4, []string{"sl."}},
	{"shopify-token", `\b(shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32})\b`, 3, []string{"shpat_", "shpca_", "shppa_", "shpss_", "shptka_"}},
	{"facebook-token", `\b(EAA[A-Za-z0-9]{80,300})\b`, 4, []string{"eaa"}},
	{"planetscale-token", `\b(pscale_(?:tkn|oauth|pw)_[\w.=-]{32,64})`, 3, []string{"pscale_"}},
	{"neon-key", `\b(napi_[a-z0-9]{60,70})\b`, 3, []string{"napi_"}},
	{"sourcegraph-token", `\b(sg[pd]_(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40,64})\b`, 3, []string{"sgp_", "sgd_"}},
	{"onepassword-token", `\b(ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3})`, 3.5, []string{"ops_eyj"}},
	{"artifactory-token", `\b((?:AKCp|cmVmd)[A-Za-z0-9]{59,69})\b`, 3.5, []string{"akcp", "cmvmd"}},
	{webTokenRule, `\b(eyJ[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,})`, 3.5, []string{"eyj"}},
	{"aws-access-key", `\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b`, 2.5, []string{"akia", "asia", "abia", "acca"}},
	{"putty-private-key", `(Private-Lines: \d+(?:\r?\n[A-Za-z0-9+/=]{1,80})+)`, 3.5, []string{"private-lines:"}},
	{"private-key", `(?i)(-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:\\r|\\n|[A-Za-z0-9+/=\s:,.()-]|"\s*\+?\s*")*?-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----)`, 0, []string{"-----begin"}},
	{"private-key-part", `(?i)(-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:\\r|\\n|[A-Za-z0-9+/=\s]){64,})`, 3.5, []string{"-----begin"}},
	{"wireguard-private-key", `(?:PrivateKey|PresharedKey)\s{0,3}=\s{0,3}([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)`, 3.5, []string{"privatekey", "presharedkey"}},
	{"kubeconfig-key", `client-key-data:\s{0,8}["']?([A-Za-z0-9+/]{100,}={0,2})`, 3.5, []string{"client-key-data"}},
	{"docker-auth", `"auth"\s{0,8}:\s{0,8}"([A-Za-z0-9+/]{12,}={0,2})"`, 3, []string{`"auth"`}},
	{"ethereum-private-key", `(?i)private.?key["'\s:=]{1,8}((?:0x)?[a-f0-9]{64})\b`, 3, []string{"private"}},
	{"pgpass-line", `(?m)^[\w.*-]+:(?:\d{2,5}|\*):[\w.*-]+:[\w.*@-]+:([^\s:]{4,128})$`, 2, []string{":5432:", ":6432:", ":*:*:", ":5433:"}},
	{"sql-password", `(?i)\b(?:identified\s{1,3}(?:with\s{1,3}\w{1,40}\s{1,3})?by|password)\s{1,3}'([^'\s]{4,128})'`, 2, []string{"identified", "password"}},
}
