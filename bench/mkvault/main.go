// Command mkvault writes a vault to measure on.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"vault-mcp/bench/vaultgen"
)

func main() {
	n := flag.Int("n", 10_000, "how many notes")
	seed := flag.Uint64("seed", 42, "what the words are drawn from")
	out := flag.String("out", "", "the folder to write, which must not exist or be empty")
	flag.Parse()
	if *out == "" || *n < 1 {
		flag.Usage()
		os.Exit(2)
	}
	v, err := vaultgen.Write(*out, *n, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mkvault:", err)
		os.Exit(1)
	}
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		panic(err) // a plain struct
	}
	fmt.Printf("%s\n", b)
}
