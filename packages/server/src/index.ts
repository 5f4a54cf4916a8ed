/**
 * The HTTP server of Assize: one table of operations over the runtime, for agents in any language,
 * people and programs.
 *
 * Guarantees: each request has one authenticated principal, and acts with its authority alone. An
 * answer of a proposal is durable. A refusal is a problem document with a stable code, and appends
 * nothing. No key leaves the process, and no secret is in the log, in a URL or in a problem.
 *
 * Never: trusts a name in a body, or decides instead of the kernel.
 */

export type { Operation } from '@assize/command/operation';
export { ServerError, type ServerErrorCode } from '@assize/command/operation';
export { ConsoleFiles } from './http/console-files.ts';
export { openApiDocument } from './operations/openapi.ts';
export { OPERATIONS } from './operations/table.ts';
export { type Credentials, credentialsOf } from './principals/credentials.ts';
export { type Serving, STOP_MS, serve } from './serve.ts';
export type { ServeOptions } from './serve-options.ts';
