package terms

// Hit is a document that can hold a text.
type Hit struct {
	Doc uint32
	// Count is how often it holds the text without overlaps, if Exact. If not,
	// the document has to be read.
	Count uint32
	Exact bool
}

// Candidates lists the documents of a view, all for nil, that can hold a text
// in any case, in the order of their numbers: none that holds it is missing. It
// is meant as a scan means it: as it is written, composed or decomposed.
//
// A text that is one token, or part of one, is answered exactly; documents with
// runs longer than MaxTerm still have to be read. Documents that have all words
// of a longer text are candidates, wherever they have them, and every document
// is one for a text without any letter or digit.
func (x *Index) Candidates(text string, v *View) []Hit {
	return x.answer(formsOf(text), v)
}

// Whole is Candidates for a text that begins and ends where tokens do.
func (x *Index) Whole(text string, v *View) []Hit {
	forms := formsOf(text)
	for i := range forms {
		forms[i] = forms[i].whole()
	}
	return x.answer(forms, v)
}

func (x *Index) answer(forms []form, v *View) []Hit {
	q := x.begin(v)
	defer q.free()
	defer q.end()
	if forms == nil {
		return q.hits(q.visible.bits)
	}
	exact := true
	for _, f := range forms {
		exact = exact && f.alone
	}
	if exact {
		return q.exactHits(forms)
	}
	for _, f := range forms {
		q.allOf(f.selective())
		for w, all := range q.all[:len(q.visible.bits)] {
			q.any[w] |= all
		}
	}
	return q.hits(q.any)
}

// allOf finds the documents that have every part.
func (q *query) allOf(parts []part) {
	copy(q.all, q.visible.bits)
	for _, p := range parts {
		clear(q.seen)
		q.x.dict.eachTerm(p, q.term)
		if p.inLong() {
			q.term(0, 1)
		}
		found := uint64(0)
		for w := range q.visible.bits {
			q.all[w] &= q.seen[w]
			found |= q.all[w]
		}
		if found == 0 {
			break
		}
	}
	clear(q.seen)
}

// hits lists documents that have to be read.
func (q *query) hits(docs []uint64) []Hit {
	hits := make([]Hit, 0, size(docs))
	each(docs, func(doc uint32) { hits = append(hits, Hit{Doc: doc}) })
	return hits
}

// exactHits counts forms of one part. What has runs too long to be terms still
// has to be read, if a part could be in one.
func (q *query) exactHits(forms []form) []Hit {
	for _, f := range forms {
		if f.parts[0].inLong() {
			q.term(0, 1)
			break
		}
	}
	q.seen, q.any = q.any, q.seen
	for _, f := range forms {
		q.x.dict.eachTerm(f.parts[0], q.term)
	}
	for w, seen := range q.seen {
		q.all[w] = seen | q.any[w]
	}
	hits := make([]Hit, 0, size(q.all[:len(q.visible.bits)]))
	each(q.all[:len(q.visible.bits)], func(doc uint32) {
		if q.any[doc>>6]>>(doc&63)&1 != 0 {
			hits = append(hits, Hit{Doc: doc})
		} else {
			hits = append(hits, Hit{doc, q.counts[doc], true})
		}
	})
	return hits
}
