package stdio

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Peer is who sends a request, in its own words: as declared with the request
// since 2026-07-28, as declared in the handshake before.
type Peer struct {
	// Modern is whether the request is of the era without a handshake. Only
	// such requests may be answered with a request for input, and only others
	// may be sent elicitation/create.
	Modern bool
	// Version is the protocol version; empty before a handshake.
	Version string
	// Info names the client software; it may be empty.
	Info mcp.Implementation
	// Capabilities are what the client can do for this request.
	Capabilities mcp.ClientCapabilities
}

// PeerFrom tells who sent the request that ctx belongs to. It rests on mcp-go
// alone, so it holds for requests over other transports as well.
func PeerFrom(ctx context.Context) Peer {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		p := Peer{Modern: true, Version: info.ProtocolVersion}
		if info.ClientInfo != nil {
			p.Info = *info.ClientInfo
		}
		if info.ClientCapabilities != nil {
			p.Capabilities = *info.ClientCapabilities
		}
		return p
	}
	// Not server.RequestProtocolVersion: an old version in a request's _meta
	// would hide the one that was negotiated.
	var p Peer
	session := server.ClientSessionFromContext(ctx)
	if s, ok := session.(server.SessionWithProtocolVersion); ok {
		p.Version = s.ProtocolVersion()
	}
	if s, ok := session.(server.SessionWithClientInfo); ok {
		p.Info, p.Capabilities = s.GetClientInfo(), s.GetClientCapabilities()
	}
	return p
}

// CanShowForms is whether the client can ask its user by a form: declared, or
// meant by an elicitation capability that names no mode.
func (p Peer) CanShowForms() bool {
	e := p.Capabilities.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}

// CanOpenURLs is whether the client can send its user to a URL.
func (p Peer) CanOpenURLs() bool {
	e := p.Capabilities.Elicitation
	return e != nil && e.URL != nil
}
