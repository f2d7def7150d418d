package secrets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// A row is a text and the secret in it; "" for none.
type row struct{ text, want string }

func checkRows(t *testing.T, rows []row) {
	t.Helper()
	scanner := secrets.New(nil, nil)
	for _, r := range rows {
		if got := secretsIn(r.text, scanner.Text([]byte(r.text))); got != r.want {
			t.Errorf("%q: found %q, want %q", r.text, got, r.want)
		}
	}
}

// TestAssignments checks the ways in which languages assign a value to a name, and near misses.
func TestAssignments(t *testing.T) {
	const s = "tr0ub4dor&3x"
	checkRows(t, []row{
		{"PASSWORD=" + s, s}, {"PASSWORD = " + s, s}, {"password: " + s, s}, {"password := \"" + s + "\"", s}, {"'password' => '" + s + "',", s},
		{"password ||= \"" + s + "\"", s}, {"password ?= " + s, s}, {"password == \"" + s + "\"", s}, {"if password != \"" + s + "\" {", s}, {"password ?? \"" + s + "\"", s},
		{"\"password\", \"" + s + "\"", s}, {"setenv(\"DB_PASSWORD\", \"" + s + "\")", s}, {"<password>" + s + "</password>", s}, {"--password " + s, s}, {"--password=" + s, s}, {"--password '" + s + "'", s},
		{"the password is " + s + " today", s}, {"The password was: " + s, s}, {"password: **" + s + "**", s}, {"password = r\"" + s + "\"", s}, {"password = f'" + s + "'", s}, {"password = @\"" + s + "\"", s},
		{"$config['password'] = '" + s + "';", s}, {"password: string = \"" + s + "\"", s}, {"password: Option<String> = \"" + s + "\"", s}, {"password=\\\"" + s + "\\\"", s}, {"db.password=" + s, s},
		{"password=\n  \"" + s + "\"", s}, {"password = (\n  '" + s + "'", ""}, {"- name: DB_PASSWORD\n  value: " + s, s}, {"\"name\": \"DB_PASSWORD\", \"value\": \"" + s + "\"", s},
		{"https://host/?password=" + s[:9] + "&x=1", s[:9]}, {"password=" + s + "; other=1", s}, {"ALTER ROLE me PASSWORD '" + s + "'", s},
		// Near misses.
		{"password", ""}, {"password=", ""}, {"password = ", ""}, {"password=\"\"", ""}, {"password \"" + s, ""}, {"password=\"" + s, ""}, {"the password is", ""}, {"password: \"", ""},
		{"passwordless = true", ""}, {"password_hash=" + s, ""}, {"password: str", ""}, {"def f(password, username):", ""}, {"password=short", ""}, {"password=12345678", ""}, {"password: see below", ""},
		{"password=$PASSWORD", ""}, {"password=${PASSWORD}", ""}, {"password=$(cat file)", ""}, {"password={{ password }}", ""}, {"password=<password>", ""}, {"password=%PASSWORD%", ""},
		{"password=os.environ['X']", ""}, {"password = getpass()", ""}, {"password: user.password", ""}, {"password = config.db.password", ""}, {"password=/run/secrets/db", ""}, {"password=file:secret.txt", ""},
		{"password=env:DB_PASSWORD", ""}, {"password=vault:secret/data", ""}, {"password=https://host/x1", ""}, {"password=changeme123", ""}, {"password=********", ""}, {"password=xxxxxxxx", ""}, {"password=example123", ""},
		{"password=your-password1", ""}, {"password=[REDACTED:github-pat:1]", ""}, {"password=null", ""}, {"password=undefined", ""}, {"PASSWORD=DB_PASSWORD_1", ""}, {"password=MY_SECRET", ""}, {"password=key.pem", ""},
	})
}

// TestNames checks which names make a value of random characters a secret.
func TestNames(t *testing.T) {
	value := fake(alnum, 77, 24)
	scanner := secrets.New(nil, nil)
	for names, want := range map[string]bool{
		"password passwd dbPassword DB_PASSWORD userPwd client_secret clientSecret SECRET secretKey secret_key API_KEY apiKey api-key x-api-key access_key privateKey signing_key jwt_key": true,
		"accessToken ACCESS_TOKEN auth_token refreshToken bot_token _auth GITHUB_PAT credentials AWS_SECRET_ACCESS_KEY encryption_key master_key storage_key passphrase API_TOKEN_PROD":    true,
		"secret_value password2 DB_PASSWORD_TEST webhook_secret deploy_key service_key app_secret consumer_secret":                                                                         true,
		"cache_key cacheKey primary_key foreign_key sort_key partition_key public_key row_key objectKey translation_key idempotency_key routing_key":                                       false,
		"id user_id secret_id token_id uuid sha256 digest checksum etag commit revision cursor nonce integrity fingerprint password_hash":                                                  false,
		"next_token nextPageToken page_token continuation_token cancel_token csrf_token eos_token first_token design_token syntax_token":                                                   false,
		"author authority compass passenger passive keyboard monkey bypass trespass":                                                                                                       false,
	} {
		for name := range strings.FieldsSeq(names) {
			for _, format := range []string{"%s=\"%s\"", `{"%s": "%s"}`} {
				text := fmt.Sprintf(format, name, value)
				if found := scanner.File("", []byte(text)); (len(found) > 0) != want {
					t.Errorf("%s: found %q, want %t", text, secretsIn(text, found), want)
				}
			}
		}
	}
}

// TestURLs checks passwords in URLs.
func TestURLs(t *testing.T) {
	const s = "R7d0eW5t"
	token := fake(alnum, 78, 30)
	checkRows(t, []row{
		{"postgres://me:" + s + "@db/app", s}, {"amqp://me:" + s + "@[::1]:5672", s}, {"redis://:" + s + "@cache", s}, {"https://" + token + "@github.com/a/b", token}, {"https://" + token + ":x-oauth-basic@github.com/a", token},
		{"mongodb+srv://a:" + s + "@c.example.net/x", s}, {"see <postgres://me:" + s + "@db>", s}, {"ftp://me:a@b" + s + "@host", "a@b" + s}, {`url = "mysql://me:` + s + `@db"`, s}, {`"postgres://me:` + s + `@db\n"`, s},
		{"https://host/path", ""}, {"https://host:8080/a@b", ""}, {"https://me@host", ""}, {"ssh://git@github.com/a/b", ""}, {"git@github.com:a/b", ""}, {"://me:" + s + "@db", ""}, {"postgres://me:" + s + "@", ""},
		{"postgres://me:" + s, ""}, {"postgres://me:@db", ""}, {"postgres://me:me@db", ""}, {"postgres://user:password@db", ""}, {"postgres://me:$PASS@db", ""}, {"postgres://me:${PASS}@db", ""}, {"postgres://me:{pw}@db", ""},
		{"postgres://me:PASSWORD@db", ""}, {"postgres://me:DB_PASS@db", ""}, {"postgres://me:<pw>@db", ""}, {"postgres://me:x@db", ""}, {"postgres://me:" + s + "@ db", ""}, {"https://0b5cbb02-7b5e-4d2a-9d4e-0e0e2f4a1b2c@sentry.io/1", ""},
		{"https://example.org/?q=a:b@c", ""}, {"https://me:****@db", ""}, {"https://me:....@db", ""},
	})
}

// TestHeaders checks credentials in HTTP headers and cookies.
func TestHeaders(t *testing.T) {
	s := fake(alnum, 79, 32)
	uuid := "0b5cbb02-7b5e-4d2a-9d4e-0e0e2f4a1b2c"
	checkRows(t, []row{
		{"Authorization: Bearer " + s, s}, {"authorization: bearer " + s, s}, {"Authorization: token " + s, s}, {"Authorization: " + s, s}, {"-H 'Authorization: Bearer " + s + "'", s}, {"headers[\"Authorization\"] = \"Bearer " + s + "\"", s},
		{"'Authorization': f'Bearer " + s + "'", s}, {"\"Authorization\" => \"Bearer " + s + "\"", s}, {"X-Api-Key: " + s, s}, {"x-api-key=" + s, s}, {"Private-Token: " + s, s}, {"Proxy-Authorization: Bearer " + s, s}, {"Authorization: Splunk " + s, s},
		{"Cookie: session=" + s, s}, {"Cookie: a=b; sessionid=" + s + "; c=d", s}, {"Set-Cookie: auth_token=" + s + "; Path=/", s}, {"cookie: sid=" + s, s}, {"use Bearer " + s + " for it", s},
		{"Authorization: Bearer", ""}, {"Authorization: Bearer $TOKEN", ""}, {"Authorization: Bearer ${TOKEN}", ""}, {"Authorization: Bearer <token>", ""}, {"Authorization: Bearer your-token-here", ""}, {"Authorization: Bearer ****************", ""},
		{"Authorization: Basic dXNlcg==", ""}, {"Authorization: Basic not base64", ""}, {"Authorization: Bearer token", ""}, {"Authorization header is required", ""}, {"forbearer of good news and " + s[:4], ""}, {"Authorization", ""}, {"Authorization:", ""},
		{"Cookie: theme=" + s, ""}, {"Cookie: session=short", ""}, {"Cookie: session=" + uuid, ""}, {"Cookie: session=some words that are long", ""}, {"Cookie:", ""}, {"Cookie: ;;;", ""}, {"the cookie monster ate session=" + s[:3], ""},
	})
}

// TestCommands checks passwords in the arguments of commands and in lines of .netrc.
func TestCommands(t *testing.T) {
	const s = "tr0ub4dor3"
	checkRows(t, []row{
		{"curl -u me:" + s + " https://x", s}, {"curl --user 'me:" + s + "' https://x", s}, {"curl -s \\\n  -u me:" + s + " \\\n https://x", s}, {"curl --proxy-user me:" + s, s}, {"wget --http-password=" + s + " https://x", s},
		{"wget --password " + s, s}, {"sshpass -p " + s + " ssh host", s}, {"sshpass -p \"" + s + "\" ssh host", s}, {"mysql -u root -p" + s + " db", s}, {"docker login -u me -p " + s + " host", s},
		{"machine host login me password " + s, s}, {"machine host\n  login me\n  password " + s + "\n", s},
		{"curl -u me https://x", ""}, {"curl -u me: https://x", ""}, {"curl -u me:$PASS https://x", ""}, {"curl -u me:<pw> https://x", ""}, {"curl https://x\nls -u me:" + s, ""}, {"mycurl -u me:" + s[:5], ""}, {"curl -u", ""}, {"curl -u me:'", ""},
		{"mysql -u root -p db", ""}, {"mysql -p", ""}, {"sshpass -p $PASS ssh host", ""}, {"sshpass -p xxxx ssh host", ""}, {"docker login -p ${TOKEN}", ""}, {"wget --password", ""}, {"machine host login me", ""}, {"machine learning is a password away", ""},
		{"machine host password", ""}, {"a machine that needs a password changeme", ""},
	})
}
