package hitl

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// What follows tells by words whether a text names a secret, or asks for one. It
// is a backstop against a mistake of this program, not a classifier of what
// others write.

// secretStems name a secret wherever they stand in a word.
var secretStems = []string{"password", "passwd", "passphrase", "passcode", "credential", "apikey", "privatekey", "passwort", "kennwort"}

// secretTerms name a secret as whole words, in singular or plural.
var secretTerms = []string{
	"secret", "token", "pin", "pwd", "otp", "cvv", "cvc", "ssn", "jwt", "bearer", "iban",
	"api key", "access key", "secret key", "private key", "ssh key", "encryption key", "signing key", "master key",
	"card number", "credit card", "debit card", "account number", "security code", "verification code", "recovery code",
	"recovery phrase", "seed phrase", "social security", "one time code", "auth code", "login code", "access code", "pin code", "pass word", "pass phrase",
}

// namesSecret reports whether a name or a label names a secret: apiKey,
// card_number, "Your PIN".
func namesSecret(label string) bool {
	words := wordsOf(label)
	for i := range words {
		if secretAt(words, i) > 0 {
			return true
		}
	}
	return false
}

// secretAt is how many words from i on name a secret; 0 if they do not.
func secretAt(words []string, i int) int {
	for _, s := range secretStems {
		if strings.Contains(words[i], s) {
			return 1
		}
	}
	for _, term := range secretTerms {
		parts := strings.Fields(term)
		if len(words)-i < len(parts) {
			continue
		}
		last := i + len(parts) - 1
		if slices.Equal(words[i:last], parts[:len(parts)-1]) && strings.TrimSuffix(words[last], "s") == parts[len(parts)-1] {
			return len(parts)
		}
	}
	return 0
}

// askingVerbs ask for what comes some words later.
var askingVerbs = []string{"enter", "provide", "give", "send", "paste", "supply", "submit", "input", "share", "tell", "reply", "fill", "insert", "disclose", "reveal", "what", "whats"}

// asksForSecret reports whether a sentence of a message asks for a secret. To
// name one is not to ask: a note may be called "Passwords".
func asksForSecret(message string) bool {
	all := wordsOf(message)
	for i := range all {
		if n := secretAt(all, i); n > 0 && len(all) <= n+2 {
			return true // hardly more than the name, which is a prompt
		}
	}
	for sentence := range strings.FieldsFuncSeq(message, func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		words := wordsOf(sentence)
		for i := range words {
			if n := secretAt(words, i); n > 0 && (askedFor(words[max(0, i-8):i]) || needed(words[i+n:])) {
				return true
			}
		}
	}
	return false
}

// askedFor reports whether the few words before the name of a secret ask for it.
func askedFor(before []string) bool {
	for i, w := range before {
		far := len(before) - i
		switch {
		case slices.Contains(askingVerbs, w):
			return true
		case w == "type" && i+1 < len(before) && slices.Contains([]string{"in", "the", "a", "your", "our"}, before[i+1]):
			return true
		case far <= 4 && w == "your" && (i+1 == len(before) || !slices.Contains([]string{"approval", "permission", "consent", "ok", "answer", "decision", "vault", "note", "notes"}, before[i+1])):
			return true
		}
	}
	return false
}

// needed reports whether the words behind the name of a secret say that it is
// wanted.
func needed(behind []string) bool {
	return slices.ContainsFunc(behind[:min(len(behind), 3)], func(w string) bool {
		return w == "required" || w == "needed" || w == "please" || w == "below" || w == "here"
	})
}

// wordsOf splits a text or an identifier into words in lower case, as they are
// read: without accents, and without characters that do not show.
func wordsOf(s string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	read := slices.DeleteFunc([]rune(norm.NFKD.String(s)), func(r rune) bool {
		return unicode.In(r, unicode.Cf, unicode.Mn) || r == '\'' || r == '’'
	})
	for i, r := range read {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if i > 0 && unicode.IsUpper(r) {
			// apiKey, and APIKey before its last capital.
			lower := i+1 < len(read) && unicode.IsLower(read[i+1])
			if unicode.IsLower(read[i-1]) || unicode.IsUpper(read[i-1]) && lower {
				end()
			}
		}
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return words
}
