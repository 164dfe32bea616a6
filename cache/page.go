package cache

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// CodeLife is how long a code lets somebody in to the page of this account.
const CodeLife = 60 * time.Second

// pageRecord says where the page of this account is, in the folder of the list of
// servers. Who can write it has the account's authority anyway; what stands in it
// lets nobody in.
type pageRecord struct {
	Process
	// Address is the origin of the page.
	Address string `json:"address"`
	// Codes let somebody in, each once. Only their hashes are kept.
	Codes []pageCode `json:"codes"`
}

type pageCode struct {
	Hash  string    `json:"hash"`
	Until time.Time `json:"until"`
	// From are the processes from which the one descends that has made the code.
	From []Process `json:"from"`
}

// ClaimPage makes this process the one that serves the page of this account, at an
// address, until release is called or the process ends. If another one serves it
// already, that one's address is the answer, and nothing is claimed.
func ClaimPage(env func(string) string, address string) (serves string, release func(), err error) {
	me := processOf(os.Getpid())
	err = updatePage(env, func(r *pageRecord) {
		if r.Address == "" {
			*r = pageRecord{Process: me, Address: address}
		}
		serves = r.Address
	})
	if err != nil || serves != address {
		return serves, func() {}, err
	}
	return serves, func() {
		_ = updatePage(env, func(r *pageRecord) { // a record of a dead process says nothing
			if r.Is(me) && r.Address == address {
				*r = pageRecord{}
			}
		})
	}, nil
}

// AddCode makes a code let somebody in to the page of this account, once, within
// CodeLife, and is that page's address. It is "" if no page runs.
func AddCode(env func(string) string, code string, now time.Time) (address string, err error) {
	err = updatePage(env, func(r *pageRecord) {
		address = r.Address
		if address != "" {
			r.Codes = append(r.Codes, pageCode{codeHash(code), now.Add(CodeLife), Lineage()})
		}
	})
	return address, err
}

// TakeCode uses a code up, and reports whether it lets somebody in, and from which
// processes the one descends that has made it.
func TakeCode(env func(string) string, code string, now time.Time) (from []Process, ok bool, err error) {
	hash := codeHash(code)
	err = updatePage(env, func(r *pageRecord) {
		r.Codes = slices.DeleteFunc(r.Codes, func(c pageCode) bool {
			// A clock that was set back prolongs nothing.
			good := now.Before(c.Until) && c.Until.Sub(now) <= CodeLife
			mine := subtle.ConstantTimeCompare([]byte(c.Hash), []byte(hash)) == 1
			if mine && good {
				from, ok = c.From, true
			}
			return mine || !good
		})
	})
	return from, ok && err == nil, err
}

func codeHash(code string) string {
	sum := sha256.Sum256([]byte("vault-mcp page code v1 " + code))
	return hex.EncodeToString(sum[:])
}

// updatePage changes the record while no other process can. The record of a
// process that has ended is passed to edit as none.
func updatePage(env func(string) string, edit func(*pageRecord)) error {
	home, err := Home(env)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("make the folder of the page's record: %w", err)
	}
	path := filepath.Join(home, "page")
	return Update(path, false, func() ([]byte, error) {
		var r pageRecord
		err := Private(path)
		if err == nil {
			var data []byte
			if data, err = os.ReadFile(path); err == nil && json.Unmarshal(data, &r) != nil {
				r = pageRecord{} // a damaged one is none
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the record of the page: %w", err)
		}
		if !r.Process.runs() {
			r = pageRecord{}
		}
		edit(&r)
		return json.Marshal(r)
	})
}
