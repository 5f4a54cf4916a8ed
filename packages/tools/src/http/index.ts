/**
 * Calls of HTTP APIs as tools, by the `fetch` of the platform.
 * Guarantees: a call goes only to allowed hosts, under the key of its effect. An effect counts as
 * not done only if the server certainly did nothing. One resource has one scope for every spelling
 * of its URL. An answer is bounded, and parsed strictly.
 * Never: retries a request on its own; follows a redirection to another origin, or of a request
 * other than GET; writes a header from a function into a log.
 */
export type { BodySort, HttpResponse } from './exchange.ts';
export { type HttpHeaders, type HttpToolOptions, httpTool } from './http-tool.ts';
export { apiResolver, type HostAliases } from './resolver.ts';
export { apiScope, type UrlOf } from './url.ts';
