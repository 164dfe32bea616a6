// Package stdio carries MCP over a pair of pipes: one JSON-RPC message a line.
//
// It decides what mcp-go's own stdio transport leaves to chance: that every
// request is answered once, under the very id it came with, also when the input
// ends; that a cancelled request neither runs later nor answers; that calls
// waiting for a person block nobody; that notifications of a request precede its
// answer; and that a request of one protocol era never changes what the server
// knows about a client of the other. Everything else, methods, results and
// versions, is [server.MCPServer.HandleMessage]'s.
//
// The parts, from the outside in: [Serve] opens and closes a connection; lines
// and envelopes are what comes in; a request is admitted, waits for its turn,
// runs in its own session and is answered through the writer.
package stdio
