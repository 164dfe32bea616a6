package git

import (
	"strconv"
	"strings"
	"time"
)

// person is who makes a commit, as git writes it: role is author or committer.
func (a *alone) person(role string, now time.Time) (string, error) {
	env := "GIT_" + strings.ToUpper(role) + "_"
	name, err := a.known(env+"NAME", role+".name", "user.name")
	if err != nil {
		return "", err
	}
	email, err := a.known(env+"EMAIL", role+".email", "user.email")
	if err != nil {
		return "", err
	}
	if email == "" {
		email = cleanIdentity(a.r.lookup("EMAIL"))
	}
	if name == "" || email == "" {
		return "", refused("identity", "%s", identity)
	}
	at, err := commitTime(a.r.lookup(env+"DATE"), now)
	if err != nil {
		return "", err
	}
	return name + " <" + email + "> " + at, nil
}

// known is the first of these that is set.
func (a *alone) known(env string, names ...string) (string, error) {
	if v := a.r.lookup(env); v != "" {
		return cleanIdentity(v), nil
	}
	for _, name := range names {
		if o, set, err := a.option(name); set || err != nil {
			return cleanIdentity(o.value), err
		}
	}
	return "", nil
}

// cleanIdentity leaves out what git leaves out of names.
func cleanIdentity(s string) string {
	s = strings.TrimFunc(s, func(c rune) bool { return c <= ' ' || strings.ContainsRune(`.,:;<>"\'`, c) })
	return strings.NewReplacer("\n", "", "<", "", ">", "").Replace(s)
}

// commitTime is a time of the environment as git writes it, or now.
func commitTime(text string, now time.Time) (string, error) {
	if text == "" {
		return strconv.FormatInt(now.Unix(), 10) + now.Format(" -0700"), nil
	}
	seconds, zone, ok := strings.Cut(strings.TrimSpace(text), " ")
	digits, marked := strings.CutPrefix(seconds, "@")
	n, err := strconv.ParseUint(digits, 10, 63)
	// Shorter ones may be a day for git.
	if ok && err == nil && (marked || len(digits) >= 9) && len(zone) == 5 && strings.ContainsRune("+-", rune(zone[0])) && strings.Trim(zone[1:], "0123456789") == "" {
		return strconv.FormatUint(n, 10) + " " + zone, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return strconv.FormatInt(at.Unix(), 10) + at.Format(" -0700"), nil
	}
	return "", refused("identity", "The date %q of the environment needs the git program to be read.", text)
}
