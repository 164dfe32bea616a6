package index

import (
	"context"
	"errors"
)

// Current takes in at once what other programs have done to the files, by
// comparing the sizes and times of all of them: for who is about to act on what
// the index says. The error is ErrNotReady, also where the comparing has failed,
// or that of ctx; after the former the index does not answer either.
func (ix *Index) Current(ctx context.Context) error {
	if err := ix.await(ctx); err != nil {
		return err
	}
	err := ix.compare(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrNotReady):
		return ErrNotReady
	}
	ix.state.set(Degraded, err)
	ix.fail(err)
	return ErrNotReady
}

// compare takes in what the sizes and times of all files tell.
func (ix *Index) compare(ctx context.Context) error {
	root, err := ix.vault.FindFolder("", nil)
	if err == nil {
		err = ix.survey(ctx, &survey{from: root})
	}
	return err
}
