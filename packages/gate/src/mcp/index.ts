/**
 * The MCP gateway: it stands between an MCP client and an MCP server, and makes the client's calls.
 * Also the ledger as an MCP server of its own (`serve/`): it reads over the HTTP API.
 *
 * Guarantees: a call is made only after the ledger has recorded its start, and the ledger starts
 * each call once. A call without a known outcome is never made again by itself. A tool is shown and
 * callable only with a definition that was approved. Arguments are those that were judged.
 *
 * Never: decides about a call. Keeps an approval, a token or a password. Trusts a hint of a server.
 */
export {
  type Answer,
  ApiDesk,
  type ApiDeskOptions,
  type Ask,
  type AskInit,
  pinKey,
} from './desk/api-desk.ts';
export type {
  AskedCall,
  CallDesk,
  Outcome,
  PinnedTool,
  ServerView,
  ShownApproval,
  WaitingCall,
} from './desk/call-desk.ts';
export { httpAsk } from './desk/http-ask.ts';
export { type HttpEnd, type HttpEndOptions, type HttpPrincipal, httpEnd } from './ends/http-end.ts';
export { type StdioEndOptions, stdioEnd } from './ends/stdio-end.ts';
export { McpError } from './errors.ts';
export { DEFAULT_LIMITS, Gateway, type GatewayLimits, type GatewayOptions } from './gateway.ts';
export { type GatewayServerOptions, gatewayServer } from './gateway-server.ts';
export {
  type HttpLedger,
  type HttpLedgerOptions,
  httpLedger,
  type LedgerPrincipal,
} from './serve/http-ledger.ts';
export { LedgerApi, type LedgerAsk, type Standing } from './serve/ledger-api.ts';
export { type ServeLedgerOptions, serveLedger } from './serve/serve-ledger.ts';
export { undoCall, undoRun } from './undo.ts';
export { type UpstreamSpec, upstreamOf } from './upstream/spec.ts';
export {
  type QuestionKind,
  Upstream,
  type UpstreamEvent,
  type UpstreamOptions,
} from './upstream/upstream.ts';
