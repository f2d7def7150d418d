package secrets

import (
	"slices"
	"strings"
)

// A nameKind is the kind of value that a name suggests. The name before a value, or of the member of
// JSON that contains it, decides how the value is judged: a value named as a password may be any word;
// a value named as an id, a digest or a cache key is never a secret; a value in the form of a UUID or
// digest is a secret only if its name says so. Rules for the form of a secret, such as a prefix, apply
// to all other values.
type nameKind uint8

const (
	plainName    nameKind = iota
	tokenName             // a token or a credential
	keyName               // an API key, an access key, …
	secretName            // a secret
	passwordName          // a password, which may be short
	phraseName            // a passphrase, which may contain blanks
)

const (
	// words that may follow the word that determines the kind
	nameSuffixes = " value val plain plaintext text b64 base64 prod production dev staging live test old new env default string str raw input "
	// before "token": positions in a list or pieces of a text
	tokenModifiers = " next page continuation cursor sync resume max min eos bos pad unk mask sep cls stop start end special num prompt completion input output" +
		" first last cancel cancellation parse lexer pagination design color theme csrf xsrf of per total count cached reasoning thinking budget syntax ast line skip prev previous current "
	// before "key": keys that are secret
	keyModifiers = " api access secret private auth encryption encrypt signing sign master account service admin license deploy storage shared ssh webhook jwt hmac aes" +
		" subscription consumer app application server root session-encryption management write read "
	// before "key": keys that are names or indexes
	idModifiers = " cache cached session idempotency request primary foreign public sort partition row object s3 routing hash map dict event trace dedup dedupe lookup index group" +
		" translation i18n message query react list item state store param field column header route prompt id name type kind version "
)

// nameWords splits a name into lower-case words, at separators and at changes of case.
func nameWords(name string) []string {
	var words []string
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = end
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case !isWord(c) || c == '_':
			flush(i)
			start = i + 1
		case i > 0 && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			flush(i)
		}
	}
	flush(len(name))
	return words
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// kindOf returns the kind of a name such as DB_PASSWORD or clientSecret.
func kindOf(name string) nameKind {
	words := nameWords(name)
	for len(words) > 1 && (strings.Contains(nameSuffixes, " "+words[len(words)-1]+" ") || strings.Trim(words[len(words)-1], "0123456789") == "") {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return plainName
	}
	last := strings.TrimRight(words[len(words)-1], "0123456789")
	before := words[:len(words)-1]
	has := func(list string) bool {
		return slices.ContainsFunc(before, func(w string) bool { return strings.Contains(list, " "+w+" ") })
	}
	switch {
	case last == "pwd" && len(before) == 0 && name != "Pwd" && name != "pwd":
		return plainName // PWD is the working directory
	case last == "phrase" && has(" pass seed recovery "):
		return phraseName
	case strings.HasSuffix(last, "pwd") && !has(" old prev initial "):
		return passwordName
	case strings.HasSuffix(last, "token") && !has(tokenModifiers), last == "pat" && len(before) > 0, last == "auth" && (strings.HasPrefix(name, "_") || name == "auth"):
		return tokenName
	case last == "key" && has(keyModifiers) && !has(idModifiers):
		return keyName
	}
	return kindOfWord(last)
}

// kindOfWord returns the kind of a name whose last word is word, if this word suffices to determine
// it.
func kindOfWord(last string) nameKind {
	switch last {
	case "mnemonic":
		return phraseName
	case "passcode", "pass", "dbpass", "userpass", "rootpass", "mypass":
		return passwordName
	case "credential", "credentials", "creds":
		return tokenName
	}
	for _, end := range []struct {
		suffix string
		kind   nameKind
	}{
		{"passphrase", phraseName}, {"password", passwordName}, {"passwd", passwordName}, {"secret", secretName},
		{"apikey", keyName}, {"secretkey", keyName}, {"accesskey", keyName}, {"privatekey", keyName},
		{"accountkey", keyName}, {"authkey", keyName}, {"signingkey", keyName}, {"encryptionkey", keyName},
	} {
		if strings.HasSuffix(last, end.suffix) {
			return end.kind
		}
	}
	return plainName
}

// namesID reports whether a name is that of an id, whose values are never secret.
func namesID(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last, before := words[len(words)-1], " "+strings.Join(words[:len(words)-1], " ")+" "
	switch last {
	case "id", "ids", "uuid", "guid", "uid", "sha", "sha1", "sha256", "sha512", "md5", "digest", "checksum", "hash", "etag", "oid", "integrity", "fingerprint", "nonce", "cursor", "revision", "commit":
		return true
	case "key", "token":
		if strings.Contains(before, " api ") && !strings.Contains(before, " request ") {
			return false
		}
		for w := range strings.FieldsSeq(before) {
			if strings.Contains(idModifiers, " "+w+" ") && (last == "key" || w != "session" && w != "public" && w != "header" && w != "query" && w != "store") || last == "token" && strings.Contains(tokenModifiers, " "+w+" ") {
				return true
			}
		}
	}
	return false
}

// opaqueName reports whether a member contains encoded data that is not searched.
func opaqueName(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	return slices.Contains([]string{"signature", "sig", "integrity"}, words[len(words)-1]) ||
		slices.Contains([]string{"encrypted_content", "redacted_thinking", "reasoning_opaque", "encrypted_reasoning"}, strings.Join(words, "_"))
}

// nameBefore returns the name at the end of a text that precedes a value.
func nameBefore(text string) string {
	name := strings.TrimRight(text, "=>:|?,`'\" \t\r\n")
	return name[strings.LastIndexAny(name, " \t\r\n'\"`,;({[")+1:]
}
