package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/tools/resources"
)

// listResources fills the page that mcp-go left empty: no note is registered
// with it, since the list would be in memory twice and grow old.
func (e *edge) listResources(ctx context.Context, _ any, r *mcp.ListResourcesRequest, out *mcp.ListResourcesResult) {
	args := map[string]any{}
	if r.Params.Cursor != "" {
		// mcp-go takes no cursor that is not base64, so ours are wrapped.
		cursor, err := base64.StdEncoding.DecodeString(string(r.Params.Cursor))
		if err != nil {
			return // it was refused before
		}
		args["cursor"] = string(cursor)
	}
	listing, ok := doResource[resources.Listing](ctx, e, resources.List, args, "")
	if !ok {
		return
	}
	out.Resources = make([]mcp.Resource, len(listing.Resources))
	for i, x := range listing.Resources {
		out.Resources[i] = mcp.Resource{URI: x.URI, Name: x.Name, MIMEType: x.MIME, Size: &x.Size}
	}
	out.NextCursor = ""
	if listing.NextCursor != nil {
		out.NextCursor = mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(*listing.NextCursor)))
	}
}

// beforeRead spells the URI as the one registered template matches it, and
// answers at once where it is no URI of ours.
func (e *edge) beforeRead(ctx context.Context, _ any, r *mcp.ReadResourceRequest) {
	vault, path, err := resources.Parse(r.Params.URI)
	if err != nil {
		stdio.SetError(ctx, resourceError(err, r.Params.URI, stdio.PeerFrom(ctx)))
		return
	}
	r.Params.URI = resources.URI(vault, path)
}

// readResource reads one file.
func (e *edge) readResource(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	vault, path, err := resources.Parse(r.Params.URI)
	if err != nil {
		return nil, err // beforeRead answered
	}
	c, ok := doResource[resources.Contents](ctx, e, resources.Read, map[string]any{"vault": vault, "path": path}, r.Params.URI)
	if !ok {
		return nil, nil
	}
	if c.Text {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: c.URI, MIMEType: c.MIME, Text: string(c.Data)}}, nil
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: c.URI, MIMEType: c.MIME, Blob: base64.StdEncoding.EncodeToString(c.Data)}}, nil
}

// doResource runs one of the queries behind the resource methods; a fault goes
// to the transport as the request's answer.
func doResource[Out any](ctx context.Context, e *edge, query string, args map[string]any, uri string) (out Out, ok bool) {
	raw, err := json.Marshal(args)
	if err == nil {
		var res, doErr = e.Do(ctx, dispatch.Request{Caller: e.Caller, Tool: query, Args: raw})
		if doErr == nil {
			return res.Out.(Out), true
		}
		err = doErr
	}
	stdio.SetError(ctx, resourceError(err, uri, stdio.PeerFrom(ctx)))
	return out, false
}
