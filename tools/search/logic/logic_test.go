package logic

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func evaluate(t testing.TB, logic, data string) (any, error) {
	t.Helper()
	var l, d any
	for _, j := range []struct {
		text string
		into *any
	}{{logic, &l}, {data, &d}} {
		if err := json.Unmarshal([]byte(j.text), j.into); err != nil {
			t.Fatalf("%s: %v", j.text, err)
		}
	}
	e, err := Parse(l)
	if err != nil {
		return nil, err
	}
	var v any
	err = guarded(func(m *machine) { v = m.eval(&e, objects(d)) })
	return v, err
}

func guarded(f func(*machine)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	f(&machine{steps: MaxSteps})
	return nil
}

// objects makes mappings those of a note.
func objects(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := mapOf{}
		for k, item := range v {
			m[k] = objects(item)
		}
		return m
	case []any:
		for i := range v {
			v[i] = objects(v[i])
		}
	}
	return v
}

func TestOperations(t *testing.T) {
	const data = `{"a":1,"b":{"c":[10,20,{"d":"deep"}]},"dot.key":"k","s":"hello","e":"","n":null,"list":[1,2,3],"tags":["x","y"],"t":true,"num":"12abc"}`
	for _, tt := range []struct{ logic, want string }{
		{`{"var":"a"}`, `1`}, {`{"var":["zz","or"]}`, `"or"`}, {`{"var":"b.c.2.d"}`, `"deep"`}, {`{"var":"dot.key"}`, `"k"`}, {`{"var":["n",5]}`, `5`}, {`{"var":"list.7"}`, `null`},
		{`{"missing":["a","e","q"]}`, `["e","q"]`}, {`{"missing":[["a","q"]]}`, `["q"]`}, {`{"missing_some":[1,["a","q"]]}`, `[]`}, {`{"missing_some":[2,["a","q"]]}`, `["q"]`},
		{`{"==":[1,"1"]}`, `true`}, {`{"==":[0,false]}`, `true`}, {`{"==":[null,0]}`, `false`}, {`{"==":["",0]}`, `true`}, {`{"==":["1","1.0"]}`, `false`}, {`{"==":[["x"],"x"]}`, `true`},
		{`{"===":[1,"1"]}`, `false`}, {`{"===":[{"var":"tags"},["x","y"]]}`, `true`}, {`{"!=":[1,2]}`, `true`}, {`{"!==":[1,1]}`, `false`},
		{`{"<":[1,2]}`, `true`}, {`{"<":[1,2,3]}`, `true`}, {`{"<":[1,1,3]}`, `false`}, {`{"<=":[1,1,3]}`, `true`}, {`{">":["b","a"]}`, `true`}, {`{">":["10",9]}`, `true`}, {`{"<":["x",1]}`, `false`}, {`{">=":[2,2]}`, `true`},
		{`{"!":[[]]}`, `true`}, {`{"!":0}`, `true`}, {`{"!!":"0"}`, `true`}, {`{"!!":[[0]]}`, `true`}, {`{"!!":null}`, `false`},
		{`{"and":[1,"",2]}`, `""`}, {`{"and":[1,2]}`, `2`}, {`{"or":[0,"x",1]}`, `"x"`}, {`{"or":[0,false]}`, `false`},
		{`{"if":[0,"a",1,"b","c"]}`, `"b"`}, {`{"if":[0,"a","c"]}`, `"c"`}, {`{"?:":[1,"a","c"]}`, `"a"`}, {`{"if":[0,"a"]}`, `null`},
		{`{"in":["ell",{"var":"s"}]}`, `true`}, {`{"in":["x",{"var":"tags"}]}`, `true`}, {`{"in":[2,{"var":"list"}]}`, `true`}, {`{"in":["a",null]}`, `false`},
		{`{"cat":["a",1,null,true,[1,2]]}`, `"a1true1,2"`}, {`{"substr":["héllo",1,3]}`, `"éll"`}, {`{"substr":["hello",-3]}`, `"llo"`}, {`{"substr":["hello",1,-1]}`, `"ell"`}, {`{"substr":["hello",4,-4]}`, `""`},
		{`{"merge":[1,[2,3],[[4]]]}`, `[1,2,3,[4]]`},
		{`{"+":[1,"2",3]}`, `6`}, {`{"+":"3.5x"}`, `3.5`}, {`{"+":[{"var":"num"}]}`, `12`}, {`{"-":[5,2]}`, `3`}, {`{"-":2}`, `-2`}, {`{"*":[2,3,"4"]}`, `24`}, {`{"/":[9,2]}`, `4.5`}, {`{"%":[-7,3]}`, `-1`},
		{`{"min":[3,1,2]}`, `1`}, {`{"max":[3,"9",2]}`, `9`},
		{`{"map":[{"var":"list"},{"*":[{"var":""},2]}]}`, `[2,4,6]`}, {`{"filter":[{"var":"list"},{">":[{"var":""},1]}]}`, `[2,3]`},
		{`{"reduce":[{"var":"list"},{"+":[{"var":"current"},{"var":"accumulator"}]},10]}`, `16`}, {`{"reduce":[null,1,7]}`, `7`},
		{`{"all":[{"var":"list"},{">":[{"var":""},0]}]}`, `true`}, {`{"all":[[],true]}`, `false`}, {`{"some":[{"var":"list"},{"==":[{"var":""},3]}]}`, `true`}, {`{"some":[[],true]}`, `false`},
		{`{"none":[{"var":"list"},{"==":[{"var":""},9]}]}`, `true`}, {`{"none":[[],true]}`, `true`}, {`{"none":[[1],true]}`, `false`},
		{`[1,{"+":[1,1]}]`, `[1,2]`}, {`"text"`, `"text"`}, {`{"<":[1]}`, `false`}, {`{"==":[]}`, `true`}, {`{"if":[]}`, `null`}, {`{"var":[]}`, data},
	} {
		got, err := evaluate(t, tt.logic, data)
		if err != nil {
			t.Errorf("%s: %v", tt.logic, err)
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(objects(want), got); d != "" {
			t.Errorf("%s (-want +got): %s", tt.logic, d)
		}
	}
}

func TestAnExpressionIsRefusedForWhatItIs(t *testing.T) {
	for logic, want := range map[string]string{
		`{"regexp":["a"]}`:       `"regexp"`,
		`{"and":[{"eval":"x"}]}`: `"eval"`,
		`{"log":"x"}`:            `"log"`,
		strings.Repeat(`{"!":`, 70) + "1" + strings.Repeat("}", 70): "too deep",
		strings.Repeat(`[`, 70) + strings.Repeat("]", 70):           "too deep",
	} {
		if _, err := evaluate(t, logic, `{}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", logic, err)
		}
	}
}

// An expression that builds ever more ends by its budget, not by the memory.
func TestAnExpressionThatGrowsIsStopped(t *testing.T) {
	long := `[` + strings.Repeat("1,", 200) + `1]`
	for _, logic := range []string{
		`{"reduce":[` + long + `,{"cat":[{"var":"accumulator"},{"var":"accumulator"}]},"ab"]}`,
		`{"reduce":[` + long + `,{"merge":[{"var":"accumulator"},{"var":"accumulator"}]},[1]]}`,
		`{"map":[` + long + `,{"map":[` + long + `,{"var":""}]}]}`,
		`{"reduce":[` + long + `,[{"var":"accumulator"},{"var":"accumulator"}],1]}`,
	} {
		if _, err := evaluate(t, logic, `{}`); !errors.Is(err, ErrSteps) {
			t.Errorf("%.60s: %v", logic, err)
		}
	}
}

func TestContentIsReadOnlyWhenAskedFor(t *testing.T) {
	for logic, want := range map[string]bool{
		`{"var":"tags"}`: false, `{"in":["a",{"var":"content"}]}`: true, `{"var":""}`: true, `{"var":{"cat":["con","tent"]}}`: true, `{"var":["x",{"var":"content"}]}`: true,
		`{"some":[{"var":"tags"},{"==":[{"var":"contents"},1]}]}`: false, `{"missing":["content"]}`: true, `{"var":[]}`: true,
	} {
		var l any
		if err := json.Unmarshal([]byte(logic), &l); err != nil {
			t.Fatal(err)
		}
		e, err := Parse(l)
		if err != nil {
			t.Fatal(err)
		}
		if e.Mentions("content") != want {
			t.Errorf("%s: want %v", logic, want)
		}
	}
}

// Whatever comes in ends soon, without a panic, and the same every time.
func FuzzLogic(f *testing.F) {
	for _, s := range []string{
		`{"in":["a",{"var":"tags"}]}`, `{"reduce":[[1,2],{"+":[{"var":"current"},{"var":"accumulator"}]},0]}`, `{"substr":["héllo",-9e99,{"/":[1,0]}]}`, `{"missing_some":[1,["a"]]}`,
		`{"%":[1,0]}`, `{"<":[{"var":"m"},{"var":""}]}`, `{"==":[{"var":"properties"},[[]]]}`, `{"cat":[{"var":"properties"}]}`, `{"var":"m.k.0"}`, `{"if":[]}`,
	} {
		f.Add(s, `{"m":{"k":[1,"two",{"z":null}]},"n":123456789012345678901234567890,"tags":["a","b"],"properties":{"m":[{}]},"content":"body #c"}`)
	}
	f.Fuzz(func(t *testing.T, logic, data string) {
		var l, d any
		numbers := json.NewDecoder(strings.NewReader(data))
		numbers.UseNumber() // as notes have them
		if json.Unmarshal([]byte(logic), &l) != nil || numbers.Decode(&d) != nil {
			return
		}
		e, err := Parse(l)
		if err != nil {
			return
		}
		d = objects(d)
		got, err := e.Holds(d)
		again, err2 := e.Holds(d)
		if got != again || err != err2 {
			t.Fatalf("%s: %v %v, then %v %v", logic, got, err, again, err2)
		}
	})
}
