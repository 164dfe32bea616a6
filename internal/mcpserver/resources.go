package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"

	"github.com/mark3labs/mcp-go/mcp"

	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/internal/uri"
	"vault-mcp/tools"
	"vault-mcp/tools/resources"
)

// beforeListResources wraps the cursor: mcp-go, whose own list is empty, takes
// none that is not base64.
func (e *edge) beforeListResources(_ context.Context, _ any, r *mcp.ListResourcesRequest) {
	r.Params.Cursor = mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(r.Params.Cursor)))
}

// listResources fills the page that mcp-go left empty: no note is registered
// with it, since the list would be in memory twice and grow old.
func (e *edge) listResources(ctx context.Context, _ any, r *mcp.ListResourcesRequest, out *mcp.ListResourcesResult) {
	args := map[string]any{}
	if cursor, _ := base64.StdEncoding.DecodeString(string(r.Params.Cursor)); len(cursor) > 0 { // wrapped above
		args["cursor"] = string(cursor)
	}
	listing, err := decode[resources.Listing](e.query(ctx, resources.List, args))
	if err != nil {
		stdio.SetError(ctx, rpcError(fault.Of(err), ""))
		return
	}
	out.Resources = make([]mcp.Resource, len(listing.Resources))
	old := knowsOnlyText(stdio.PeerFrom(ctx)) // titles and times came with structured content
	for i, x := range listing.Resources {
		w := mcp.Resource{URI: x.URI, Name: x.Name, MIMEType: x.MIME, Size: &x.Size}
		if !old {
			w.Title, w.Annotations = x.Title, &mcp.Annotations{LastModified: x.MTime}
		}
		out.Resources[i] = w
	}
	if listing.NextCursor != nil {
		out.NextCursor = mcp.Cursor(*listing.NextCursor)
	}
}

// maxURI is the longest URI that may name a resource, in bytes.
const maxURI = 8 << 10

// beforeRead spells the URI so that the one template matches it whatever is in
// it: mcp-go goes by that, and with several in a random order. readResource undoes
// it.
func (e *edge) beforeRead(ctx context.Context, _ any, r *mcp.ReadResourceRequest) {
	switch name := r.Params.URI; {
	case name == "":
		stdio.SetError(ctx, invalidParams(`Invalid params: "uri" is missing.`, nil))
	case len(name) > maxURI:
		r.Params.URI = ""
		stdio.SetError(ctx, resourceNotFound("", stdio.PeerFrom(ctx)))
	default:
		r.Params.URI = spelled + url.PathEscape(name)
	}
}

// spelled begins a URI that beforeRead made.
const spelled = "vault://"

// readResource reads one file.
func (e *edge) readResource(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	name, err := url.PathUnescape(r.Params.URI[len(spelled):])
	if err != nil {
		return nil, err
	}
	c, err := e.read(ctx, name)
	if err != nil {
		stdio.SetError(ctx, readError(err, name, stdio.PeerFrom(ctx)))
		return nil, nil
	}
	if c.Text {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: c.URI, MIMEType: c.MIME, Text: string(c.Data)}}, nil
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: c.URI, MIMEType: c.MIME, Blob: base64.StdEncoding.EncodeToString(c.Data)}}, nil
}

func (e *edge) read(ctx context.Context, name string) (c resources.Contents, err error) {
	vault, path, err := uri.Parse(name)
	if err != nil {
		return c, err
	}
	return decode[resources.Contents](e.query(ctx, resources.Read, map[string]any{"vault": vault, "path": path}))
}

// query runs a query for a method of the protocol that is no call of a tool.
func (e *edge) query(ctx context.Context, name string, args map[string]any) (*tools.Result, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return e.Do(ctx, dispatch.Request{Caller: e.Caller, Tool: name, Args: raw})
}

// readError is the fault of resources/read.
func readError(err error, name string, p stdio.Peer) stdio.RPCError {
	f := fault.Of(err)
	switch f.Code {
	case fault.NoteNotFound, fault.VaultNotFound, fault.PathInvalid, fault.ValidationError:
		// The arguments came from the URI: it names nothing that is there.
		return resourceNotFound(name, p)
	}
	return rpcError(f, name)
}
