package secrets

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestRotatedRingSignsAnewAndVerifiesOld(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	old := r.Sign("cursor", []byte("m"))
	kid, n, err := Rotate(dir)
	if err != nil || n != 1 {
		t.Fatalf("got %d old keys, %v", n, err)
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again.Current() != kid {
		t.Errorf("a new process signs with %s, want %s", again.Current(), kid)
	}
	if err := again.Verify("cursor", []byte("m"), old); err != nil {
		t.Errorf("what was signed before: %v", err)
	}
	r.looked = r.looked.Add(-lookEvery)
	if got, _ := r.Key("cursor"); got != kid {
		t.Errorf("a running server signs with %s, want %s", got, kid)
	}
	if info, err := os.Stat(filepath.Join(dir, "secrets", "ring.json")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("got %v, %v, want a private file", info.Mode(), err)
	}
}

func TestARingKeepsABoundedNumberOfKeys(t *testing.T) {
	dir := t.TempDir()
	var sigs []string
	for range maxOld + 3 {
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		sigs = append(sigs, r.Sign("cursor", []byte("m")))
		if _, n, err := Rotate(dir); err != nil || n > maxOld {
			t.Fatalf("got %d old keys, %v", n, err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, sig := range sigs {
		if err := r.Verify("cursor", []byte("m"), sig); (err == nil) != (i >= len(sigs)-maxOld) {
			t.Errorf("key %d of %d: %v", i, len(sigs), err)
		}
	}
}

// A ring that was restored may have its current key in front.
func TestTheKeyThatSignedLastStays(t *testing.T) {
	ks := newKeys()
	for range maxOld {
		ks.all = append(ks.all, freshSecret())
	}
	if _, ok := ks.rotated().of(ks.current); !ok {
		t.Error("the key that signed until now is gone")
	}
}

func TestNoRotationIsLostWhenManyComeAtOnce(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	kids := map[string]bool{}
	for range 8 { // each opens its own lock, as a process does
		wg.Go(func() {
			kid, _, err := Rotate(dir)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			kids[kid] = true
		})
	}
	wg.Wait()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for kid := range kids {
		if _, ok := r.KeyOf("cursor", kid); !ok {
			t.Errorf("key %s was lost", kid)
		}
	}
	if len(kids) != 8 || len(r.keys.all) != 9 {
		t.Errorf("%d rotations left %d keys", len(kids), len(r.keys.all))
	}
}

func TestADamagedRingIsNotRotated(t *testing.T) {
	dir := t.TempDir()
	putRing(t, dir, "{}")
	if _, _, err := Rotate(dir); err == nil {
		t.Error("a damaged ring was replaced")
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "secrets", "ring.json")); string(text) != "{}" {
		t.Errorf("it is now %s", text)
	}
}
