// SPDX-License-Identifier: Apache-2.0

package main

// Decode into structs. encoding/json is the oracle. It needs URL of the API server, too, which serves widgets.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"informer"
)

type upper string

func (u *upper) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte(`"bad"`)) {
		return errBad
	}
	*u = upper(bytes.ToUpper(text))
	return nil
}

var errBad = errors.New("bad")

type lower struct{ text string }

func (l *lower) UnmarshalText(text []byte) error {
	l.text = strings.ToLower(string(text))
	return nil
}

// A level has its UnmarshalJSON for numbers, and a function for strings.
type level struct {
	text   string
	number int
}

func (l *level) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &l.text)
	}
	return json.Unmarshal(text, &l.number)
}

type named string

type inner struct {
	X, Y int
	Deep string `json:"deep"`
}

type Embedded struct {
	Deep  string `json:"deep"`
	Other int    `json:"other"`
}

type Second struct {
	Other int `json:"other"`
}

// embedding is a struct of these; go vet would refuse it, if both have the same field.
func embedding(types ...reflect.Type) any {
	fields := []reflect.StructField{}
	for _, t := range types {
		fields = append(fields, reflect.StructField{Name: t.Name(), Type: t, Anonymous: true})
	}
	return reflect.Zero(reflect.StructOf(fields)).Interface()
}

type tree struct {
	Name     string           `json:"name"`
	Children []tree           `json:"children"`
	ByName   map[string]*tree `json:"byName"`
}

type everything struct {
	Embedded `json:",inline"`
	Deep     string `json:"deep"` // hides Embedded's
	Untagged string
	Skipped  string            `json:"-"`
	hidden   string            //nolint:unused
	In       inner             `json:"in"`
	At       *inner            `json:"at,omitempty"`
	List     []inner           `json:"list"`
	Labels   map[string]string `json:"labels"`
	ByName   map[named]inner   `json:"byName"`
	Upper    upper             `json:"upper"`
	Uppers   []*upper          `json:"uppers"`
	UpperOf  map[string]upper  `json:"upperOf"`
}

// decodeCases: a type, and texts to decode into it.
var decodeCases = []struct {
	into  any
	texts []string
}{
	{false, []string{"true", "false", "null", "1", `"true"`}},
	{int8(5), []string{"0", "127", "-128", "128", "-129", "1.5", "1.0", "1e2", "null", `"1"`, "true", "[]", "{}"}},
	{int16(0), []string{"32767", "32768", "-32768"}},
	{int32(0), []string{"2147483647", "2147483648", "-2147483648", "-2147483649"}},
	{int64(0), []string{"9223372036854775807", "-9223372036854775808", "9223372036854775808"}},
	{int(0), []string{"63", "64", "-1", "65536"}},
	{uint8(0), []string{"255", "256", "-1", "null"}},
	{uint64(0), []string{"18446744073709551615", "18446744073709551616", "-1", "7"}},
	{float32(0), []string{"1", "1.5", "1e40", "-0.25", `"1"`}},
	{float64(0), []string{"1", "1.5", "1e300", "18446744073709551615", "123456789012345678901234567890", "null", "[]"}},
	{"", []string{`"text"`, `""`, `"` + strings.Repeat("long ", 500) + `"`, `"a\u0000b\"é"`, "null", "1", "{}"}},
	{named(""), []string{`"text"`, "7"}},
	{json.Number(""), []string{"1.5", "7", "{}"}},
	{[]byte{}, []string{`"aGVsbG8="`, `""`, `"#"`, "null", "[1,2]", "5"}},
	{[]string{}, []string{`["a","b",null]`, "[]", "null", `["a",1]`, `{}`, `"a"`}},
	{[]inner{}, []string{`[{"X":1,"Y":2},{"deep":"d"},{},null]`, `[{"X":1},{"Y":"2"}]`}},
	{[][]int{}, []string{`[[1],[],[2,3]]`, `[[1],[true]]`}},
	{[2]int{}, []string{"[1,2]", "[1]", "[1,2,3]", `[true]`}},
	{map[string]string{}, []string{`{"a":"b","":"c"}`, "{}", "null", `{"a":null}`, `{"a":1}`, `[]`}},
	{map[named]int{}, []string{`{"a":1}`, `{"a":"1"}`, "{}"}},
	{map[int]string{}, []string{`{"1":"a"}`, `{"a":"a"}`}},
	{map[string][]byte{}, []string{`{"a":"aGVsbG8=","b":null}`}},
	{map[string]map[string]string{}, []string{`{"a":{"b":"c"},"d":{},"e":null}`}},
	{(*int)(nil), []string{"1", "null", `"1"`}},
	{(**inner)(nil), []string{`{"X":1}`, "null"}},
	{upper(""), []string{`"a"`, "null", `{"a":[1,2.5,null,true,"x"]}`, `"bad"`}},
	{(*upper)(nil), []string{`"a"`, "null"}},
	{lower{}, []string{`"ABC"`, "null", "1"}},
	{map[lower]int{}, []string{`{}`}},
	{level{}, []string{`"a"`, "5", "null"}},
	{[]level{}, []string{`["a",5,"b"]`}},
	{(*error)(nil), []string{`null`, `"a"`}},
	{tree{}, []string{`{"name":"a","children":[{"name":"b","children":[{}]}],"byName":{"c":{"name":"d"},"e":null}}`}},
	{struct {
		N int `json:",string"`
	}{}, []string{`{"N":"5"}`, `{"N":"a"}`}},
	{embedding(reflect.TypeFor[Embedded](), reflect.TypeFor[Second]()), []string{`{"deep":"d","other":1}`}},
	{struct {
		Other int `json:"other"`
		Second
	}{}, []string{`{"other":1}`}},
	{everything{}, []string{
		`{"deep":"d","other":3,"Untagged":"u","Skipped":"s","-":"s","hidden":"h","unknown":{"a":[1]},"in":{"X":1,"Y":-1}}`,
		`{"at":{"deep":"x"},"list":[{"X":1}],"labels":{"a":"b"},"byName":{"n":{"Y":2}},"upper":"u","uppers":["a",null],"upperOf":{"k":7}}`,
		`{"at":null,"list":null,"labels":null,"byName":null,"upper":null,"in":null}`,
		`{"list":[{"X":1},{"X":{}}]}`, `{"upperOf":{"k":"bad"}}`, `{}`, `null`, `[]`,
	}},
}

func ask(t testing.TB, method, path, body string) string {
	t.Helper()
	request, err := http.NewRequest(method, os.Getenv("URL")+path, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s: %s", method, path, response.Status, text)
	}
	var object struct {
		Metadata struct{ ResourceVersion string }
	}
	must(t, json.Unmarshal(text, &object))
	return object.Metadata.ResourceVersion
}

// widget puts an object with this spec into the arena.
func widget(t testing.TB, inf *informer.Informer, name, spec string) informer.Object {
	t.Helper()
	const path = "/apis/example.com/v1/namespaces/default/widgets"
	version := ask(t, "POST", path, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"},"spec":`+spec+`}`)
	t.Cleanup(func() { ask(t, "DELETE", path+"/"+name, "") })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	must(t, inf.WaitVersion(ctx, "widgets", version))
	object, err := begin(t, inf).Get(inf.Resource("widgets"), "default", name)
	must(t, err)
	return object
}

func TestDecodeAsEncodingJSON(t *testing.T) {
	informer.RegisterText(func(text string, to *level) error {
		to.text = text
		return nil
	})
	inf := real(t)
	var spec []string
	for i, c := range decodeCases {
		for j, text := range c.texts {
			spec = append(spec, fmt.Sprintf(`"c%d-%d":%s`, i, j, text))
		}
	}
	object := widget(t, inf, "cases", "{"+strings.Join(spec, ",")+"}")
	for i, c := range decodeCases {
		for j, text := range c.texts {
			value, err := object.Value(informer.MustCompilePath(fmt.Sprintf(`spec["c%d-%d"]`, i, j)))
			must(t, err)
			ours, theirs := reflect.New(reflect.TypeOf(c.into)), reflect.New(reflect.TypeOf(c.into))
			for _, into := range []reflect.Value{ours, theirs} { // what was there before
				if kind := into.Elem().Kind(); kind != reflect.Map && kind != reflect.Pointer && kind != reflect.Slice {
					into.Elem().Set(reflect.ValueOf(c.into))
				}
			}
			err, wanted := value.Decode(ours.Interface()), json.Unmarshal([]byte(text), theirs.Interface())
			if (err == nil) != (wanted == nil) || err == nil && !reflect.DeepEqual(ours.Interface(), theirs.Interface()) {
				t.Errorf("%s into %T: %+v (%v), not %+v (%v)", text, c.into, ours.Elem(), err, theirs.Elem(), wanted)
			}
			if err != nil && !errors.Is(err, informer.ErrType) && !errors.Is(err, errBad) && !strings.Contains(wanted.Error(), "string") {
				t.Errorf("%s into %T: %v", text, c.into, err)
			}
		}
	}
}

func TestDecodeSaysWhere(t *testing.T) {
	inf := real(t)
	object := widget(t, inf, "wrong", `{"list":[{"X":1},{"X":"2"}],"labels":{"a":1},"upperOf":{"k":"bad"},"any":[1,"a",{"b":2.5}],"Deep":"d"}`)
	for path, into := range map[string]any{
		"spec.list[1].X: a string for a int": &struct {
			Spec struct {
				List []inner `json:"list"`
			} `json:"spec"`
		}{},
		"spec.labels.a: an integer for a string": &struct {
			Spec struct {
				Labels map[string]string `json:"labels"`
			} `json:"spec"`
		}{},
		"spec.upperOf.k: bad": &struct {
			Spec struct {
				UpperOf map[string]upper `json:"upperOf"`
			} `json:"spec"`
		}{},
		"no pointer":            inner{},
		"nil":                   (*inner)(nil),
		"an object for a []int": &[]int{},
	} {
		if err := object.Decode(into); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, not %q", err, path)
		}
	}
	var loose struct {
		Metadata struct {
			Name, Namespace string
			N               string `json:"name"`
			UID             string `json:"uid"`
			Version         string `json:"resourceVersion"`
		} `json:"metadata"`
		Spec struct {
			Any  any    `json:"any"`
			Deep string `json:"deep"`
		} `json:"spec"`
	}
	must(t, object.Decode(&loose))
	if want := []any{int64(1), "a", map[string]any{"b": 2.5}}; !reflect.DeepEqual(loose.Spec.Any, want) {
		t.Errorf("any: %#v", loose.Spec.Any)
	}
	if loose.Spec.Deep != "" || loose.Metadata.Name != "" {
		t.Error("names are compared without their case")
	}
	if m := loose.Metadata; m.N != "wrong" || m.UID == "" || m.Version == "" {
		t.Errorf("what stands in the head: %+v", m)
	}
}

func TestDecodeKeepsWhatIsThere(t *testing.T) {
	inf := real(t)
	object := widget(t, inf, "over", `{"list":[{"X":1}],"labels":{"a":"b"},"at":{"X":7},"in":{"X":1}}`)
	before := []inner{{5, 6, "old"}, {7, 8, "old"}}
	at := &inner{1, 2, "kept"}
	into := struct {
		Spec everything `json:"spec"`
	}{everything{List: before, Labels: map[string]string{"c": "d"}, At: at, In: inner{Y: 4}, Untagged: "kept"}}
	must(t, object.Decode(&into))
	want := everything{List: []inner{{X: 1}}, Labels: map[string]string{"a": "b", "c": "d"}, At: at, In: inner{X: 1, Y: 4}, Untagged: "kept"}
	if !reflect.DeepEqual(into.Spec, want) || *at != (inner{7, 2, "kept"}) || before[0] != (inner{5, 6, "old"}) {
		t.Errorf("%+v, %v, %v", into.Spec, at, before)
	}
}

// A shelf has each form that copies of a shared value may share by mistake.
type shelf struct {
	everything
	Flags    []bool                       `json:"flags"`
	Small    []struct{ B bool }           `json:"small"`
	Rows     [][]int                      `json:"rows"`
	Flag     *bool                        `json:"flag"`
	Narrow   *int8                        `json:"narrow"`
	Wide     *int64                       `json:"wide"`
	Text     *string                      `json:"text"`
	Twice    **inner                      `json:"twice"`
	Only     *struct{ P *int }            `json:"only"`
	Empty    []inner                      `json:"empty"`
	Nothing  *inner                       `json:"nothing"`
	Pointers []*inner                     `json:"pointers"`
	Maps     map[string]map[string]string `json:"maps"`
	Level    level                        `json:"level"`
	Tree     tree                         `json:"tree"`
}

// scramble changes all that a value has or points to.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int64:
		v.SetInt(^v.Int())
	case reflect.String:
		v.SetString("scrambled")
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if v.Type().Elem().Kind() == reflect.Pointer || v.Type().Elem().Kind() == reflect.Map {
				scramble(v.MapIndex(key))
			}
			v.SetMapIndex(key, reflect.Value{})
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				scramble(v.Field(i))
			}
		}
	}
}

func TestCopiesOfASharedValueAreIndependent(t *testing.T) {
	const text = `{"deep":"d","other":3,"in":{"X":1,"deep":"a string that is shared"},"at":{"deep":"x","Y":-1},
		"list":[{"X":1},{"Y":-2,"deep":"b"}],"labels":{"a":"b"},"byName":{"n":{"Y":2}},"upper":"u","uppers":["a",null],"upperOf":{"k":7},
		"flags":[true,false,true],"small":[{"B":true},{"B":false},{"B":true}],"rows":[[1,2],[],[3]],"flag":true,"narrow":-3,
		"wide":-1234567890123,"text":"some text","twice":{"X":7},"only":{"P":5},"empty":[],"nothing":null,"pointers":[{"X":1},null,{"X":2}],
		"maps":{"a":{"b":"c"}},"level":"high","tree":{"name":"a","children":[{"name":"b","children":[{}]}],"byName":{"c":{"name":"d"}}}}`
	inf := real(t)
	var objects []string
	for i := range 4 { // a value that comes again is shared
		name := fmt.Sprintf("shelf%d", i)
		widget(t, inf, name, `{"shelf":`+text+`,"shelves":[`+text+`,`+text+`]}`)
		objects = append(objects, name)
	}
	type shelves struct {
		Spec struct {
			Shelf   shelf   `json:"shelf"`
			Shelves []shelf `json:"shelves"`
		} `json:"spec"`
	}
	for range 4 {
		snap := begin(t, inf)
		for _, name := range objects {
			object, err := snap.Get(inf.Resource("widgets"), "default", name)
			must(t, err)
			text, err := object.JSON()
			must(t, err)
			var ours, theirs shelves
			must(t, object.Decode(&ours))
			must(t, json.Unmarshal(text, &theirs))
			if !reflect.DeepEqual(ours, theirs) {
				a, _ := json.Marshal(&ours)
				b, _ := json.Marshal(&theirs)
				t.Fatalf("%s, not %s", a, b)
			}
			scramble(reflect.ValueOf(&ours))
			at, over := &inner{}, shelves{}
			over.Spec.Shelf.Untagged, over.Spec.Shelf.At = "kept", at
			must(t, object.Decode(&over))
			if over.Spec.Shelf.Untagged != "kept" || over.Spec.Shelf.At != at || at.Y != -1 {
				t.Fatalf("what was there before: %+v", over.Spec.Shelf)
			}
		}
		snap.End()
	}
}

type panics struct{}

func (panics) UnmarshalJSON([]byte) error { var none *int; *none = 1; return nil }

func TestAPanicOfUnmarshalJSONGoesOn(t *testing.T) {
	inf := real(t)
	pod := scheduled(t, begin(t, inf), inf.Resource("pods"))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it was swallowed")
			}
		}()
		t.Error(pod.Decode(&struct {
			Spec panics `json:"spec"`
		}{}))
	}()
	must(t, pod.Decode(&podLike{}))
}

// podLike has something of each kind of a pod's.
type podLike struct {
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string `json:"labels"`
		Annotations     map[string]string `json:"annotations"`
		Owners          []struct {
			Kind       string `json:"kind"`
			Controller *bool  `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName   string `json:"nodeName"`
		Containers []struct {
			Name      string              `json:"name"`
			Image     string              `json:"image"`
			Args      []string            `json:"args"`
			Env       []map[string]any    `json:"env"`
			Ports     []map[string]any    `json:"ports"`
			Resources map[string]any      `json:"resources"`
			Probe     json.RawMessage     `json:"livenessProbe"`
			Mounts    []map[string]string `json:"-"`
		} `json:"containers"`
		Tolerations []map[string]any `json:"tolerations"`
		Grace       *int64           `json:"terminationGracePeriodSeconds"`
		Volumes     []any            `json:"volumes"`
	} `json:"spec"`
	Status struct {
		Phase      named  `json:"phase"`
		IP         string `json:"podIP"`
		Conditions []struct {
			Type, Status string
			Last         upper `json:"lastTransitionTime"`
		} `json:"conditions"`
	} `json:"status"`
}

// overwrite replaces bytes of the broker's arena, all places of them, and has the next snapshot see another epoch.
func (b *broker) overwrite(t *testing.T, old, new string) {
	t.Helper()
	st, err := b.arena.Stat()
	must(t, err)
	image := make([]byte, st.Size())
	_, err = b.arena.ReadAt(image, 0)
	must(t, err)
	if len(old) != len(new) || !bytes.Contains(image, []byte(old)) {
		t.Fatalf("there is no %q", old)
	}
	copy(image, bytes.ReplaceAll(image, []byte(old), []byte(new)))
	root := informerRoot(image)
	epoch := uint64At(image, root+16+32) + 1
	putUint64(image, root+16+32, epoch)
	putUint64(image, 264, epoch)
	_, err = b.arena.WriteAt(image[8192:], 8192)
	must(t, err)
	putUint64(b.header, 264, epoch)
}

func TestWhatDecodeRemembersIsComparedWithTheArena(t *testing.T) {
	broker := newBroker(t)
	inf := attach(t, broker.place)
	pods := inf.Resource("pods")
	decode := func() (pod podLike) {
		t.Helper()
		snap, err := inf.Begin()
		must(t, err)
		defer snap.End()
		for object, err := range snap.All(pods) {
			must(t, err)
			pod = podLike{}
			must(t, object.Decode(&pod))
			if pod.Metadata.Labels["app.kubernetes.io/part-of"]+pod.Metadata.Labels["app.kubernetes.io/part-oX"] != "" && len(pod.Spec.Tolerations) > 0 {
				return pod
			}
		}
		return pod
	}
	pod := decode()
	if pod.Spec.NodeName == "" || pod.Spec.Containers[0].Image == "" || pod.Metadata.Labels["app.kubernetes.io/part-of"] == "" {
		t.Fatalf("%+v", pod)
	}
	image := pod.Spec.Containers[0].Image
	broker.overwrite(t, "\x48nodeName", "\x48nodeNamX")
	if changed := decode(); changed.Spec.NodeName != "" || changed.Spec.Containers[0].Image != image {
		t.Errorf("a field's name: %+v", changed.Spec)
	}
	broker.overwrite(t, "\x59app.kubernetes.io/part-of", "\x59app.kubernetes.io/part-oX")
	if changed := decode(); changed.Metadata.Labels["app.kubernetes.io/part-oX"] == "" {
		t.Errorf("a label's name: %v", changed.Metadata.Labels)
	}
	broker.overwrite(t, image, "X"+image[1:])
	if changed := decode(); changed.Spec.Containers[0].Image != "X"+image[1:] {
		t.Errorf("a string: %v", changed.Spec.Containers[0].Image)
	}
}

func TestDamagedArenasAreAnError(t *testing.T) {
	random := rand.New(rand.NewSource(seed(t)))
	failed := 0
	for range damages() {
		broker := newBroker(t)
		st, err := broker.arena.Stat()
		must(t, err)
		broker.damage(t, random, st.Size())
		inf, err := informer.Attach(&informer.Options{Socket: broker.place})
		must(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err = inf.WaitAttached(ctx); err != nil {
			wants(t, informer.ErrCorrupt, "WaitAttached", err)
		}
		cancel()
		inf.View(func(snap informer.Snapshot) error {
			for object, err := range snap.All(inf.Resource("pods")) {
				if err != nil {
					failed++
					return err
				}
				var pod podLike
				var loose any
				for _, into := range []any{&pod, &loose} {
					if err := object.Decode(into); err != nil {
						failed++
						if !errors.Is(err, informer.ErrCorrupt) && !errors.Is(err, informer.ErrType) {
							t.Errorf("%T: %v", err, err)
						}
					}
				}
			}
			return nil
		})
		must(t, inf.Close())
	}
	if failed == 0 {
		t.Error("nothing was damaged")
	}
}
