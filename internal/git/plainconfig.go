package git

import (
	"path/filepath"
	"strings"
)

// maxIncludes is how deep configs include each other, as in git.
const maxIncludes = 10

// config is all of git's config for this repository, in the order in which it
// counts: the last value of a name is the one.
func (r *Repo) config() ([]option, error) {
	files := append(userConfigs(r.lookup), filepath.Join(r.Common, "config"))
	s, err := r.settings()
	if err != nil {
		return nil, err
	}
	if s.perTree {
		files = append(files, filepath.Join(r.Dir, "config.worktree"))
	}
	var all []option
	for _, path := range files {
		if all, err = r.gather(all, path, false, 0); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// gather adds the options of a config and of those that it includes.
func (r *Repo) gather(all []option, path string, maybe bool, depth int) ([]option, error) {
	options, err := readConfig(path)
	if absent(err) {
		return all, nil
	}
	if err != nil || depth > maxIncludes {
		return nil, refused("config", "The config %s cannot be read: %v.", machinePath(path), err)
	}
	for _, o := range options {
		o.maybe = maybe
		all = append(all, o)
		always := o.name == "include.path"
		if !always && !(strings.HasPrefix(o.name, "includeif.") && strings.HasSuffix(o.name, ".path")) || o.value == "" {
			continue
		}
		other, err := r.userPath(o.value, filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		if all, err = r.gather(all, other, maybe || !always, depth+1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// userPath is a path of a config: from the account's folder, or from base.
func (r *Repo) userPath(value, base string) (string, error) {
	rest, ok := strings.CutPrefix(value, "~")
	if home := homeOf(r.lookup); ok && home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, filepath.FromSlash(rest)), nil
	}
	if ok || strings.HasPrefix(value, "%(") {
		return "", refused("config", "The config names the path %q, which needs the git program to be found.", machinePath(value))
	}
	path := filepath.FromSlash(value)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return path, nil
}

// option is the value that counts of a name. One in a file that is included under
// a condition is refused: the condition is not judged here.
func (a *alone) option(name string) (o option, set bool, err error) {
	for i := len(a.options) - 1; i >= 0; i-- {
		if o = a.options[i]; o.name != name {
			continue
		}
		if o.maybe {
			kind := "include"
			if strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "author.") || strings.HasPrefix(name, "committer.") {
				kind = "identity"
			}
			return o, false, refused(kind, "git's config sets %s in a file that it includes under a condition (includeIf), which needs the git program to be judged.", name)
		}
		return o, true, nil
	}
	return option{}, false, nil
}

// on is a setting that is on or off.
func (a *alone) on(name string, unset bool) (bool, error) {
	o, set, err := a.option(name)
	if !set {
		return unset, err
	}
	return o.isTrue(), nil
}

// choice is a setting in small letters; "" if it is unset or off.
func (a *alone) choice(name string) (string, error) {
	o, set, err := a.option(name)
	value := strings.ToLower(o.value)
	switch {
	case !set:
		return "", err
	case o.isTrue():
		return "true", nil
	case value == "false" || value == "no" || value == "off":
		return "", nil
	}
	return value, nil
}

// file is the path of a file that the config names, or git's usual one for it.
func (a *alone) file(name, usual string) (string, error) {
	o, set, err := a.option(name)
	if err != nil {
		return "", err
	}
	if !set {
		return userFile(a.r.lookup, usual), nil
	}
	if o.value == "" {
		return "", nil
	}
	return a.r.userPath(o.value, a.r.Work)
}
